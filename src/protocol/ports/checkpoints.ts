/**
 * State folded from the log of one agent up to a record, so that opening the agent reads only the records after that. It holds nothing that the log
 * does not hold, and the log decides: a checkpoint that does not fit it is ignored.
 */
export interface Checkpoint {
  /** The record of the log that it stands at. */
  readonly seq: number
  /** How `body` is encoded: another version of escapement may not know it. */
  readonly form: string
  /** A digest of the record `seq`, which tells whether the log is the one that it was made from. */
  readonly digest: string
  /** Opaque to stores. Neither the store nor its reader changes it. */
  readonly body: Uint8Array
}

/**
 * Keeps the newest checkpoint of each agent, beside its log. Contract: `write` replaces the previous checkpoint as a whole: a reader, also after a
 * crash, finds one of the two or none, never a part. It may be lost by a power cut. It rejects with `STORE_NOT_OPEN` without a lease, and with
 * `STORE_LEASE_LOST` under an epoch that is not the newest. `read` resolves to exactly what was written, and to `undefined` when there is none; for a
 * damaged one it does so too, or rejects with the fault, which is logged. It needs no lease. The checkpoint of an agent is deleted with its log.
 */
export interface CheckpointStore {
  /** Set where nothing outlives the process: an agent's checkpoint is then written only when the agent is unloaded. */
  readonly isVolatile?: true
  read(agentId: string): Promise<Checkpoint | undefined>
  write(agentId: string, checkpoint: Checkpoint, epoch?: number): Promise<void>
}

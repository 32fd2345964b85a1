/**
 * What has been folded from the log of one agent up to a record, so that opening the agent reads only the records after that. It holds
 * nothing that the log does not hold, and the log decides: a checkpoint that does not fit it is as none.
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
 * Keeps the newest checkpoint of each agent, beside its log. Contract: `write` takes the place of the one before as a whole: whoever reads,
 * and whoever comes after a crash, finds one of the two or none, never a part. It may be lost by a power cut. It rejects with
 * `STORE_NOT_OPEN` without a lease, and with `STORE_LEASE_LOST` under an epoch that is not the newest. `read` resolves to exactly what was
 * written, and to `undefined` when there is none; where it was damaged it does so too, or rejects saying what is, which the logger is told. It
 * needs no lease. What is kept of an agent goes with its log.
 */
export interface CheckpointStore {
  /** Set where nothing outlives the process: an agent then has its checkpoint written as it is let go of, and none before. */
  readonly isVolatile?: true
  read(agentId: string): Promise<Checkpoint | undefined>
  write(agentId: string, checkpoint: Checkpoint, epoch?: number): Promise<void>
}

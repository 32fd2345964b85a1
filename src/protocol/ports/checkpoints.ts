/**
 * State folded from the log of one agent up to a record, so that opening the agent reads only later records. It holds nothing that the log does not
 * hold. A checkpoint that does not match the log is ignored.
 */
export interface Checkpoint {
  /** `seq` of the last record that the checkpoint covers. */
  readonly seq: number
  /** Encoding of `body`, which another version of escapement may not know. */
  readonly form: string
  /** Digest of the record `seq`, which identifies the log that the checkpoint was made from. */
  readonly digest: string
  /** Encoded state, opaque to stores. Neither the store nor its reader changes it. */
  readonly body: Uint8Array
  /** The large part of the state that several checkpoints of an agent have in common. An `id` always stands for the same bytes. */
  readonly shared?: { readonly id: string; readonly body: Uint8Array } | undefined
}

/**
 * Keeps the newest checkpoint of each agent, beside its log. Contract: `write` replaces the previous checkpoint atomically: a reader finds one of the
 * two or none, even after a crash. A power cut may lose it. `write` rejects with `STORE_NOT_OPEN` without a lease, and with `STORE_LEASE_LOST` under
 * an epoch that is not the newest. `read` resolves to exactly the written checkpoint, or to `undefined` if there is none. For a damaged one it
 * resolves to `undefined` too, or rejects with the fault, which is logged. It needs no lease. An agent's checkpoint is deleted with its log. Only a
 * store with `keepsShared` receives `shared`. It belongs to the checkpoint, but is not written again if the previous one has the same `id`.
 */
export interface CheckpointStore {
  /** Set if nothing outlives the process. An agent's checkpoint is then written only when the agent is unloaded. */
  readonly isVolatile?: true
  /** Set if `shared` bytes are kept. Small checkpoints are then written more often. */
  readonly keepsShared?: true
  read(agentId: string): Promise<Checkpoint | undefined>
  write(agentId: string, checkpoint: Checkpoint, epoch?: number): Promise<void>
}

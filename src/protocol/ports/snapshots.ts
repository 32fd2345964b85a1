/** Limits of the file contents that a store keeps for one agent. The oldest are removed first. */
export interface SnapshotLimits {
  /** Maximum number of bytes kept for one agent. */
  readonly maxBytes: number
  /** Maximum number of contents kept for one agent. */
  readonly maxCount: number
  /** Maximum size of one content in bytes. A larger one is not kept. */
  readonly maxFileBytes: number
}

/**
 * Keeps the contents of files from before an agent changed them, separately for each agent. Contract: `put` resolves to
 * the SHA-256 of the bytes in hexadecimal digits, and keeps equal bytes once. It rejects if they could not be kept or
 * exceed `maxFileBytes`. `get` resolves to exactly these bytes, or to `undefined` if they are gone or damaged.
 */
export interface SnapshotStore {
  readonly maxFileBytes: number
  put(agentId: string, bytes: Uint8Array): Promise<string>
  get(agentId: string, id: string): Promise<Uint8Array | undefined>
}

/** The snapshots of one agent. */
export interface Snapshots {
  readonly maxFileBytes: number
  put(bytes: Uint8Array): Promise<string>
  get(id: string): Promise<Uint8Array | undefined>
}

/** The snapshots of an agent as the runtime uses them. Contents named in its results may be stored with the agent that it was forked from. */
export interface AgentSnapshots extends Snapshots {
  get(id: string, agentId?: string): Promise<Uint8Array | undefined>
}

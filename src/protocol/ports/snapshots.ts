/** Limits of the files that a store keeps for one agent; the oldest go first. */
export interface SnapshotLimits {
  /** Most bytes kept of one agent. */
  readonly maxBytes: number
  /** Most contents kept. */
  readonly maxCount: number
  /** Most bytes of one content: a larger one is not kept. */
  readonly maxFileBytes: number
}

/**
 * Keeps contents of files, such as they were before an agent changed them, each agent's apart. Contract: `put` resolves to the SHA-256 of
 * the bytes in hexadecimal digits, and keeps the same bytes once; it rejects when they could not be kept or are more than
 * `maxFileBytes`. `get` resolves to exactly these bytes, or to `undefined` when they are no longer there or were damaged.
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

/** The snapshots of an agent as the runtime uses them: contents that its results name may be kept by the agent that it was forked from. */
export interface AgentSnapshots extends Snapshots {
  get(id: string, agentId?: string): Promise<Uint8Array | undefined>
}

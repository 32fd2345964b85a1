/** The time port: every timestamp, timer and timeout of the runtime goes through it. All values are milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls `callback` once, `ms` from now; returns a function that cancels it and is safe to call late or twice. */
  after(ms: number, callback: () => void): () => void
}

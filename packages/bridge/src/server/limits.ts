import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'

const defaults = {
  /** Maximum number of connected clients. */
  connections: 1_000,
  /** Maximum number of sockets that have neither brought a token nor said `hello`, in total and per address. They do not count as connections. */
  strangers: 128,
  strangersPerAddress: 32,
  /** Maximum size of a client's frame, in bytes. */
  frameBytes: 1024 * 1024,
  framesPerSecond: 200,
  /** Maximum number of waiting commands. */
  waitingCommands: 256,
  subscriptions: 1_000,
  /** Maximum nesting of a frame. */
  depth: 64,
  /** Time limit for `hello` after the connection. */
  helloMs: 5_000,
  /** Interval between pings. A client that did not answer the last ping is disconnected. */
  pingMs: 15_000,
  /** Number of bytes waiting in a socket above which the client counts as lagging, and above which it is disconnected. */
  highWaterBytes: 1024 * 1024,
  hardLimitBytes: 8 * 1024 * 1024,
  /** Time for which a session is remembered after its last client has left. Until then, repeated commands that left no record are recognised. */
  sessionMs: 60 * 60 * 1_000,
  /** Time for clients to leave when the server is closed. */
  drainMs: 2_000,
}

/** Limits on the resources of the server that one client may use. Sizes in bytes, times in milliseconds. */
export type BridgeLimits = typeof defaults

/** Schema of the limits that an application gives; all are optional. */
export const bridgeLimitsSchema = lazily(() => {
  const count = z.int().positive()
  const names = Object.keys(defaults) as readonly (keyof BridgeLimits)[]
  return onlyFields(Object.fromEntries(names.map((name) => [name, count]))).partial()
})

/** Returns the given limits, with defaults for the others; `given` has been checked. Pure. */
export function limitsOf(given: Partial<BridgeLimits> = {}): BridgeLimits {
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(known) }
}

import { z } from 'zod'
import { onlyFields } from '../../protocol/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'

const defaults = {
  /** Connected clients. */
  connections: 1_000,
  /** Sockets that have neither brought a token nor said `hello`, in all and of one address; they do not count as connections. */
  strangers: 128,
  strangersPerAddress: 32,
  /** One frame of a client. */
  frameBytes: 1024 * 1024,
  framesPerSecond: 200,
  /** Commands not yet carried out. */
  waitingCommands: 256,
  subscriptions: 1_000,
  /** Nesting of a frame. */
  depth: 64,
  /** For `hello` after the connection. */
  helloMs: 5_000,
  /** Between pings; a client that did not answer the last one is given up. */
  pingMs: 15_000,
  /** Waiting in a socket before the client counts as lagging, and before it is given up. */
  highWaterBytes: 1024 * 1024,
  hardLimitBytes: 8 * 1024 * 1024,
  /** A session whose last client has left is remembered for so long: commands that left nothing in a log are known until then. */
  sessionMs: 60 * 60 * 1_000,
  /** For clients to leave when the server is closed. */
  drainMs: 2_000,
}

/** What one client may take of the server. Sizes in bytes, times in milliseconds. */
export type BridgeLimits = typeof defaults

/** Some of them, as an application gives them. */
export const bridgeLimitsSchema = lazily(() => {
  const count = z.int().positive()
  const names = Object.keys(defaults) as readonly (keyof BridgeLimits)[]
  return onlyFields(Object.fromEntries(names.map((name) => [name, count]))).partial()
})

/** All of them, of the others the defaults; `given` has been checked. Pure. */
export function limitsOf(given: Partial<BridgeLimits> = {}): BridgeLimits {
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(known) }
}

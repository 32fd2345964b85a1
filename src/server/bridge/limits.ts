import { z } from 'zod'
import { lazily } from '../../protocol/lazily.ts'

const count = lazily(() => z.int().positive())

/** What one client may take of the server. Sizes in bytes, times in milliseconds. */
export const bridgeLimitsSchema = lazily(() =>
  z.strictObject({
    /** Connected clients. */
    connections: count().default(1_000),
    /** Sockets that have neither brought a token nor said `hello`, in all and of one address; they do not count as connections. */
    strangers: count().default(128),
    strangersPerAddress: count().default(32),
    /** One frame of a client. */
    frameBytes: count().default(1024 * 1024),
    framesPerSecond: count().default(200),
    /** Commands not yet carried out. */
    waitingCommands: count().default(256),
    subscriptions: count().default(1_000),
    /** Nesting of a frame. */
    depth: count().default(64),
    /** For `hello` after the connection. */
    helloMs: count().default(5_000),
    /** Between pings; a client that did not answer the last one is given up. */
    pingMs: count().default(15_000),
    /** Waiting in a socket before the client counts as lagging, and before it is given up. */
    highWaterBytes: count().default(1024 * 1024),
    hardLimitBytes: count().default(8 * 1024 * 1024),
    /** A session whose last client has left is remembered for so long: commands that left nothing in a log are known until then. */
    sessionMs: count().default(60 * 60 * 1_000),
    /** For clients to leave when the server is closed. */
    drainMs: count().default(2_000),
  }),
)
export type BridgeLimits = z.output<ReturnType<typeof bridgeLimitsSchema>>

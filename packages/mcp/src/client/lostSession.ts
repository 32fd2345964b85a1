import { messageOf } from '../../../../src/protocol/errors.ts'
import type { Server } from './server.ts'

/** Returns true for an error that reports a forgotten session: 404, or 400 from some servers. Another 400 may follow a call that took effect. */
export function isSessionGone(thrown: unknown, server: Server): boolean {
  if (!server.sdk.SdkHttpError.isInstance(thrown) || !server.hasSession) return false
  const { status } = thrown
  return status === 404 || status === 410 || (status === 400 && /session|initiali[sz]ed/i.test(thrown.message))
}

/** Time limit for a server to answer a ping, in milliseconds. */
const pingMs = 5_000

/**
 * Returns true for a server whose session is lost. For a forgotten session some servers answer 503, some close the connection, and some return
 * an error that says so; a server that still answers a ping is only busy.
 */
export async function isLost(thrown: unknown, server: Server, signal: AbortSignal): Promise<boolean> {
  const isFailure = (error: unknown): boolean => {
    if (server.sdk.SdkHttpError.isInstance(error)) return (error.status ?? 0) >= 500
    return error instanceof TypeError || /\bsession\b/i.test(messageOf(error))
  }
  if (!server.hasSession || !isFailure(thrown)) return false
  return await server.client.ping({ signal, timeout: pingMs }).then(() => false, isFailure)
}

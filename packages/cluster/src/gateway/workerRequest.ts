import { request as requestHttp, type ClientRequest, type OutgoingHttpHeaders } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { healthPath } from '../../../bridge/src/server/places.ts'

/** Time limit for connecting to a worker, in milliseconds. */
const connectMs = 3_000
/** Interval at which a worker that has not begun its answer is probed, and time limit for its reply to a probe, in milliseconds. */
const lookMs = 10_000

/** A request to a worker. */
interface Asked {
  readonly method: string
  /** Path and query of the request. `isOwn`: they are below the worker's own path, else from the root of its server. */
  readonly target: { readonly path: string; readonly isOwn: boolean }
  readonly headers?: OutgoingHttpHeaders
  readonly signal: AbortSignal
}

/** Returns a request to the worker whose bridge has this address, over a connection of its own. The caller ends the request. */
export function workerRequest(url: string, { method, target, headers, signal }: Asked): ClientRequest {
  const to = new URL(url)
  const isSecure = to.protocol === 'wss:'
  const base = to.pathname.slice(0, to.pathname.lastIndexOf('/'))
  const request = (isSecure ? requestHttps : requestHttp)({
    host: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port === '' ? (isSecure ? 443 : 80) : to.port,
    method,
    path: target.isOwn ? `${base}${target.path}` : target.path,
    headers: { ...headers, host: to.host },
    signal,
    agent: false,
  })
  // A machine that has vanished says nothing, not even that an answer is over: it is looked for while nothing comes.
  return request.on('socket', (socket) => socket.setKeepAlive(true, lookMs))
}

/** Calls `connected` once the request may have reached the worker, that is, once there is a connection. */
export function onConnected(request: ClientRequest, connected: () => void): void {
  request.on('socket', (socket) => {
    const isSecure = 'encrypted' in socket
    if (socket.connecting) socket.once(isSecure ? 'secureConnect' : 'connect', connected)
    else connected()
  })
}

/**
 * Waits for the answer to a request to begin, however long the worker takes. Calls `lost` with the reason if the worker
 * accepts no connection, or stops answering probes. Returns a function that ends the wait, to be called in any case.
 */
export function awaitWorker(
  url: string,
  request: ClientRequest,
  clock: Clock,
  lost: (why: string) => void,
): () => void {
  const over = new AbortController()
  let cancel = clock.after(connectMs, () => lost(`it took no connection within ${connectMs} ms`))
  const lookLater = (): void => {
    if (over.signal.aborted) return
    cancel = clock.after(lookMs, () => {
      cancel = clock.after(lookMs, () => lost('it does not answer'))
      const look = workerRequest(url, { method: 'GET', target: { path: healthPath, isOwn: true }, signal: over.signal })
      const isThere = (): void => {
        cancel()
        lookLater()
      }
      look.on('response', (answer) => {
        answer.on('error', () => {})
        answer.resume()
        isThere()
      })
      look.on('error', (error: NodeJS.ErrnoException) => {
        // One that takes no more of them may still carry this one out; of one that has ended, the connection breaks.
        if (refusals.has(error.code)) isThere()
        else if (!over.signal.aborted) lost(error.message)
      })
      look.end()
    })
  }
  onConnected(request, () => {
    cancel()
    lookLater()
  })
  return () => {
    over.abort()
    cancel()
  }
}

const refusals: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ECONNRESET'])

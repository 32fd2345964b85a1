import type * as Sdk from '@modelcontextprotocol/client'
import type { FetchLike, JSONRPCMessage, OAuthClientProvider } from '@modelcontextprotocol/client'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { McpOptions } from './options.ts'
import { checkLead, type Lookup } from './ownNetwork.ts'

export interface HttpOptions {
  readonly url: string
  readonly headers: McpOptions['headers']
  readonly auth: OAuthClientProvider | undefined
  /** Hosts of the own network that the server may name for signing in. */
  readonly authHosts?: readonly string[] | undefined
  readonly lookup?: Lookup
  readonly maxResultBytes: number
  /** Called with each header value that a function returned. */
  onHeader(value: string): void
}

type SendOptions = Parameters<Sdk.StreamableHTTPClientTransport['send']>[1]

/** Options for resuming a broken stream: attempts take about two seconds together. */
const reconnectionOptions = {
  initialReconnectionDelay: 300,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 2_000,
  maxRetries: 3,
}

/** The SDK's transport, in which a call whose stream ends without an answer ends as well: in the SDK it waits for its time limit. */
export function httpTransport(sdk: typeof Sdk, options: HttpOptions): Sdk.StreamableHTTPClientTransport {
  const tooLong = `its answer is longer than ${options.maxResultBytes} bytes`
  let why: string | undefined
  class CallEndingTransport extends sdk.StreamableHTTPClientTransport {
    override send(message: JSONRPCMessage | JSONRPCMessage[], sendOptions?: SendOptions): Promise<void> {
      if (Array.isArray(message) || !('method' in message && 'id' in message) || sendOptions?.onRequestStreamEnd)
        return super.send(message, sendOptions)
      const { id } = message
      // After an answer there is nobody who waits for the id.
      const onRequestStreamEnd = (): void => {
        this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message: why ?? unanswered } })
        why = undefined
      }
      return super.send(message, { ...sendOptions, onRequestStreamEnd })
    }
  }
  return new CallEndingTransport(new URL(options.url), {
    fetch: boundedFetch(options, () => {
      why = tooLong
      return new Error(tooLong)
    }),
    reconnectionOptions,
    ...(options.auth === undefined ? {} : { authProvider: options.auth }),
  })
}

/** Message of the error of a call whose stream ended. */
export const unanswered = 'the connection ended without an answer'

/**
 * `fetch` that adds the headers, asking for them anew if a function gives them, and refuses an answer that is too long. The server names the
 * host that issues its tokens, which may be another party: that host gets none of the headers, and may not be in our own network unless the
 * server is.
 */
export function boundedFetch(
  { url: own, headers, maxResultBytes, onHeader, authHosts: allowed, lookup }: Omit<HttpOptions, 'auth'>,
  tooLong: () => Error,
): FetchLike {
  const server = new URL(own)
  const send = async (to: URL, init: RequestInit, from: URL): Promise<Response> => {
    await checkLead(server, to, { allowed, lookup })
    const all = new Headers(init.headers)
    if (to.origin !== from.origin) for (const name of ['authorization', 'cookie']) all.delete(name)
    const given = isOf(server, to) ? await headersOf(headers, onHeader) : {}
    for (const [name, value] of Object.entries(given)) if (!all.has(name)) all.set(name, value)
    return await fetch(to, { ...init, headers: all })
  }
  return async (url, init) => {
    const response = await follow(new URL(url), init ?? {}, send)
    if (response.body === null) return response
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const body = response.body.pipeThrough(atMost(maxResultBytes, isStream, tooLong))
    const { status, statusText } = response
    const bounded = new Response(body, { status, statusText, headers: response.headers })
    // Where a redirect led to: the SDK looks at it.
    Object.defineProperty(bounded, 'url', { value: response.url })
    Object.defineProperty(bounded, 'redirected', { value: response.redirected })
    Object.defineProperty(bounded, 'type', { value: response.type })
    return bounded
  }
}

const mostRedirects = 5

/** Follows the redirects of a request without a body, using `send` for each. The SDK itself checks redirects of one with a body. */
async function follow(
  url: URL,
  init: RequestInit,
  send: (to: URL, init: RequestInit, from: URL) => Promise<Response>,
): Promise<Response> {
  const follows = init.redirect === undefined && (init.method ?? 'GET').toUpperCase() === 'GET'
  const request: RequestInit = { ...init, redirect: init.redirect ?? 'manual' }
  let to = url
  for (let sent = 0; ; sent += 1) {
    const response = await send(to, request, url)
    const location = response.headers.get('location')
    if (!follows || location === null || response.status < 300 || response.status > 399) return response
    if (sent === mostRedirects) throw new Error(`${url.origin} sends on and on`)
    await response.body?.cancel()
    to = new URL(location, to)
  }
}

/** Returns true if an address belongs to the server, including a redirect from http to https. Pure. */
const isOf = (server: URL, { origin, protocol, port, hostname }: URL): boolean =>
  origin === server.origin ||
  (server.protocol === 'http:' && protocol === 'https:' && server.hostname === hostname && server.port + port === '')

async function headersOf(
  headers: McpOptions['headers'],
  onHeader: (value: string) => void,
): Promise<{ readonly [name: string]: string }> {
  if (typeof headers !== 'function') return headers ?? {}
  const given = await headers()
  for (const value of Object.values(given)) onHeader(value)
  return given
}

/** Returns a stream that limits the number of bytes of a body, or of each event in a stream of events. */
function atMost(
  maxBytes: number,
  isStream: boolean,
  tooLong: () => Error,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > maxBytes) return controller.error(tooLong())
      const end = isStream ? lastBlankLine(chunk) : -1
      if (end >= 0) bytes = chunk.length - end
      controller.enqueue(chunk)
    },
  })
}

/** Returns the position of a chunk's last empty line; -1 if there is none. One that spans two chunks is missed, and a bit more is counted. */
function lastBlankLine(chunk: Uint8Array): number {
  for (let at = chunk.lastIndexOf(10); at > 0; at = chunk.lastIndexOf(10, at - 1))
    if (chunk[at - 1] === 10 || (chunk[at - 1] === 13 && chunk[at - 2] === 10)) return at
  return -1
}

/** Returns true if anything answers at an address within `ms` milliseconds. Never rejects. */
export async function isReachable(url: string, ms: number, clock: Clock): Promise<boolean> {
  const late = new AbortController()
  const cancel = clock.after(ms, () => late.abort())
  try {
    const response = await fetch(url, { method: 'OPTIONS', redirect: 'manual', signal: late.signal })
    await response.body?.cancel()
    return true
  } catch {
    return false
  } finally {
    cancel()
  }
}

import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { given } from '../../../../src/protocol/bridge/commandRules.ts'
import { maybe, onlyFields, positive, thatIs, wrongText } from './shape.ts'
import { withoutEnd } from '../../../../src/protocol/text/textEnds.ts'

/** Range of the wait before a reconnect. It doubles from `baseMs` to `maxMs`, and half of it is random. */
export interface RetryOptions {
  /** First wait in milliseconds. Default 250. */
  readonly baseMs?: number
  /** Longest wait in milliseconds. Default 10,000. */
  readonly maxMs?: number
}

/** Returns the token for the next connection. If it throws, it is called again after a while. */
export type TokenSource = () => string | undefined | Promise<string | undefined>

export interface ConnectOptions {
  /**
   * Token that authenticates the client. A server on the same machine may not need one. A function is called for a
   * token at every connection, for tokens that expire. The client then keeps its session and continues where it was.
   */
  readonly token?: string | TokenSource
  /** Class for connections. Default: the global `WebSocket`, which browsers and Node 22 have. */
  readonly webSocket?: WebSocketConstructor
  readonly retry?: RetryOptions
  /**
   * Time limit for the first `welcome`, in milliseconds. After that the client is closed, and `ready` and
   * everything pending reject with `BRIDGE_UNREACHABLE`. Without it, the default, the client keeps trying.
   */
  readonly connectTimeoutMs?: number
  /** Signal whose abort closes the client. */
  readonly signal?: AbortSignal
  /** Clock for timers. Default: the system's. */
  readonly clock?: Clock
  /** Random numbers from 0 to 1 for the jitter. Default: `Math.random`. */
  readonly random?: () => number
}

/** The options with their defaults. */
export interface CheckedOptions {
  readonly url: string
  readonly token: string | TokenSource | undefined
  readonly webSocket: WebSocketConstructor
  readonly retry: Required<RetryOptions>
  readonly connectTimeoutMs: number | undefined
  readonly signal: AbortSignal | undefined
  readonly clock: Clock
  readonly random: () => number
  /** Returns the `seq` of the last known record of an agent, if it is known without a request. */
  readonly knownSeq?: (agentId: string) => number | undefined
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

const optionsShape = onlyFields<ConnectOptions>({
  token: maybe(thatIs((value) => typeof value === 'string' || isFunction(value), 'give a string, or a function')),
  webSocket: maybe(thatIs(isFunction, 'give a WebSocket class')),
  retry: maybe(onlyFields<RetryOptions>({ baseMs: maybe(positive), maxMs: maybe(positive) })),
  connectTimeoutMs: maybe(positive),
  signal: maybe(thatIs((value) => value instanceof AbortSignal, 'give an AbortSignal')),
  clock: maybe(thatIs((value) => isFunction((value as Clock | undefined)?.after), 'give { now, after }')),
  random: maybe(thatIs(isFunction, 'give a function')),
})

/** Checks the options of `connect` and adds the defaults. @throws RuntimeError `INVALID_OPTION` */
export function checkOptions(written: string, options: ConnectOptions): CheckedOptions {
  const url = bridgeUrl(written)
  const wrong = optionsShape(given(options))
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `connect: ${wrongText(wrong)}.`)
  const { token, signal, connectTimeoutMs, clock = systemClock, random = Math.random } = options
  const here = globalThis as { readonly WebSocket?: WebSocketConstructor }
  const webSocket = options.webSocket ?? here.WebSocket
  if (webSocket === undefined) {
    throw new RuntimeError('INVALID_OPTION', 'connect: there is no global WebSocket here (Node has it from 22 on).')
  }
  const retry = { baseMs: 250, maxMs: 10_000, ...options.retry }
  return { url, token, webSocket, retry, connectTimeoutMs, signal, clock, random }
}

const bridgePath = '/bridge'
const schemes: Readonly<Record<string, string>> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' }

/**
 * Parses the URL of a bridge: `ws(s)://host[:port]/bridge`, or `http(s)://host[:port][/base]` for its server.
 * @throws RuntimeError `INVALID_OPTION`
 */
export function bridgeUrl(written: string): string {
  const url = URL.parse(written)
  const scheme = schemes[url?.protocol ?? '']
  if (url === null || scheme === undefined || url.hostname === '') {
    const what = `connect takes a URL such as ws://127.0.0.1:8765/bridge or https://agents.example.com, not ${written}.`
    throw new RuntimeError('INVALID_OPTION', what)
  }
  const path = withoutEnd(url.pathname, '/')
  const isWhole = path.endsWith(bridgePath) || (url.protocol === scheme && path !== '')
  return `${scheme}//${url.host}${isWhole ? path : `${path}${bridgePath}`}${url.search}`
}

/** A standard WebSocket of any implementation; `addEventListener` is omitted because each types it differently. */
export interface AnyWebSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** The members that the client uses. */
export interface WebSocketPort extends AnyWebSocket {
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void
}

/** Constructor of a socket: the `WebSocket` of browsers, of Node 22, or of the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => AnyWebSocket

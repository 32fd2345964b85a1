import { z } from 'zod'
import type { Clock } from '../protocol/clock.ts'
import { systemClock } from '../protocol/systemClock.ts'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import type { WebSocketConstructor } from './webSocketPort.ts'

/** How long to wait before connecting again: twice as long each time, from `baseMs` to `maxMs`, half of it at random. */
export interface RetryOptions {
  /** Default 250. */
  readonly baseMs?: number
  /** Default 10,000. */
  readonly maxMs?: number
}

export interface ConnectOptions {
  /** Says who this is; a server on this machine alone may do without. */
  readonly token?: string
  /** Default: the global `WebSocket`, which browsers and Node 22 have. */
  readonly webSocket?: WebSocketConstructor
  readonly retry?: RetryOptions
  /** Closes the client when it is aborted. */
  readonly signal?: AbortSignal
  /** Default: the system's. */
  readonly clock?: Clock
  /** Numbers from 0 to 1, for the jitter. Default: `Math.random`. */
  readonly random?: () => number
}

/** The options with their defaults. */
export interface CheckedOptions {
  readonly url: string
  readonly token: string | undefined
  readonly webSocket: WebSocketConstructor
  readonly retry: Required<RetryOptions>
  readonly signal: AbortSignal | undefined
  readonly clock: Clock
  readonly random: () => number
}

const isFunction = (value: unknown): boolean => typeof value === 'function'
const ms = z.number().positive()

const schema = z
  .strictObject({
    token: z.string(),
    webSocket: z.custom(isFunction, 'give a WebSocket class'),
    retry: z.strictObject({ baseMs: ms, maxMs: ms }).partial(),
    signal: z.custom((value) => value instanceof AbortSignal, 'give an AbortSignal'),
    clock: z.custom((value) => isFunction((value as Clock | undefined)?.after), 'give { now, after }'),
    random: z.custom(isFunction, 'give a function'),
  })
  .partial()

/** @throws RuntimeError `INVALID_OPTION` */
export function checkOptions(url: string, options: ConnectOptions): CheckedOptions {
  if (!/^wss?:\/\//.test(url) || !URL.canParse(url)) {
    throw new RuntimeError('INVALID_OPTION', `connect takes a URL such as ws://127.0.0.1:8765/bridge, not ${url}.`)
  }
  const checked = schema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `connect: ${describeIssues(checked.error)}.`)
  const { token, signal, clock = systemClock, random = Math.random } = options
  const here = globalThis as { readonly WebSocket?: WebSocketConstructor }
  const webSocket = options.webSocket ?? here.WebSocket
  if (webSocket === undefined) {
    throw new RuntimeError('INVALID_OPTION', 'connect: there is no global WebSocket here (Node has it from 22 on).')
  }
  return { url, token, webSocket, retry: { baseMs: 250, maxMs: 10_000, ...options.retry }, signal, clock, random }
}

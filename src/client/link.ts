import { errorInfo, messageOf, RuntimeError, toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { bridgeProtocol, closeCodes, type ClientFrame, type ServerFrame } from '../protocol/frames.ts'
import { backoffDelay } from '../protocol/backoffDelay.ts'
import type { CheckedOptions } from './connectOptions.ts'
import { readFrames } from './readFrames.ts'
import { closedError, remoteError } from './remoteError.ts'
import { tokenProtocol } from './sessionId.ts'
import type { WebSocketPort } from './webSocketPort.ts'

/** `connecting` until the server has said welcome for the first time; `closed` is for good. */
export type ClientStatus = 'connecting' | 'open' | 'reconnecting' | 'closed'

export type WelcomeFrame = Extract<ServerFrame, { type: 'welcome' }>

/** For the server to say welcome; between pings; for the answer to a ping. Milliseconds. */
const welcomeMs = 10_000
const pingMs = 20_000
const pongMs = 10_000
/** A connection that lasted so long was a good one: the next wait is short again. */
const steadyMs = 5_000

/** Who hears of the connection. */
export interface LinkOwner {
  opened(welcome: WelcomeFrame): void
  heard(frame: ServerFrame): void
  /** The connection broke; another one is being made. */
  lost(): void
  /** It is over for good. */
  closed(error: RuntimeError): void
  changed(status: ClientStatus): void
  report(error: ErrorInfo): void
}

/** One connection after another to the same server, under the same session, until it is closed. */
export class Link {
  readonly #options: CheckedOptions
  readonly #sessionId: string
  readonly #owner: LinkOwner
  #socket: WebSocketPort | undefined
  #status: ClientStatus = 'connecting'
  #wasOpen = false
  #attempt = 0
  #retryAt: number | undefined
  #openedAt = 0
  /** Timers: the next attempt, the welcome, the next ping; and the answer to a ping. */
  #cancelTimer: () => void = () => {}
  #cancelPong: (() => void) | undefined
  #cancelTimeout: (() => void) | undefined
  /** Why there has been no connection so far; it is told once. */
  #problem: ErrorInfo | undefined
  /** What the server last said that was no answer: the reason of a close. */
  #lastError: ErrorInfo | undefined

  constructor(options: CheckedOptions, sessionId: string, owner: LinkOwner) {
    this.#options = options
    this.#sessionId = sessionId
    this.#owner = owner
  }

  get status(): ClientStatus {
    return this.#status
  }

  /** When it tries again, in epoch milliseconds; `undefined` while it is connected or trying. */
  get retryAt(): number | undefined {
    return this.#status === 'closed' ? undefined : this.#retryAt
  }

  /** Connects. Once. */
  open(): void {
    const { clock, connectTimeoutMs } = this.#options
    if (connectTimeoutMs !== undefined)
      this.#cancelTimeout = clock.after(connectTimeoutMs, () => {
        const problem = this.#problem ?? this.#unreachable(`no welcome came within ${connectTimeoutMs} ms`)
        this.close(remoteError(problem))
      })
    this.#dial()
  }

  /** Sends a frame; nothing while it is not connected. */
  send(frame: ClientFrame): void {
    this.sendText(JSON.stringify(frame))
  }

  /** Sends a serialised frame; nothing while it is not connected. */
  sendText(text: string): void {
    try {
      this.#socket?.send(text)
    } catch {
      // It is closing: what matters is sent again.
    }
  }

  /** Closes for good. Idempotent. */
  close(error: RuntimeError = closedError()): void {
    if (this.#status === 'closed') return
    this.#cancelTimeout?.()
    this.#hangUp()
    this.#become('closed')
    this.#owner.closed(error)
  }

  #dial(): void {
    const { url, webSocket, token, clock } = this.#options
    let socket: WebSocketPort
    try {
      const protocols = token === undefined ? [bridgeProtocol] : [bridgeProtocol, tokenProtocol(token)]
      socket = new webSocket(url, protocols) as WebSocketPort
    } catch (thrown) {
      return this.close(new RuntimeError('INVALID_OPTION', `connect: ${messageOf(thrown)}.`))
    }
    this.#retryAt = undefined
    this.#socket = socket
    this.#lastError = undefined
    const isCurrent = (): boolean => this.#socket === socket
    socket.addEventListener('open', () => {
      if (!isCurrent()) return
      this.send({ type: 'hello', sessionId: this.#sessionId, ...(token === undefined ? {} : { token }) })
    })
    socket.addEventListener('message', ({ data }: { readonly data: unknown }) => {
      if (isCurrent()) this.#hear(data, isCurrent)
    })
    socket.addEventListener('close', ({ code }: { readonly code: number }) => {
      if (isCurrent()) this.#lose(code)
    })
    // A close follows it, but not in Node 22 when there never was a connection.
    socket.addEventListener('error', ({ message }: { readonly message?: unknown }) => {
      if (isCurrent()) this.#lose(undefined, typeof message === 'string' && message !== '' ? message : undefined)
    })
    this.#cancelTimer = clock.after(welcomeMs, () => this.#lose(undefined, `no welcome came within ${welcomeMs} ms`))
  }

  #hear(data: unknown, isCurrent: () => boolean): void {
    this.#cancelPong?.()
    this.#cancelPong = undefined
    for (const frame of readFrames(data, (error) => this.#owner.report(error))) {
      // What was heard may have closed the client.
      if (!isCurrent()) return
      if (frame.type === 'welcome') this.#welcome(frame)
      else if (frame.type === 'closing') return this.#lose()
      else if (frame.type !== 'pong') {
        if (frame.type === 'error' && frame.id === undefined) this.#lastError = frame
        this.#tell(frame)
      }
    }
  }

  /** What a frame sets off must not break the reading of the next one. */
  #tell(frame: ServerFrame): void {
    try {
      this.#owner.heard(frame)
    } catch (thrown) {
      this.#owner.report(toErrorInfo(thrown, 'INTERNAL'))
    }
  }

  #welcome(frame: WelcomeFrame): void {
    this.#cancelTimer()
    this.#cancelTimeout?.()
    this.#wasOpen = true
    this.#openedAt = this.#options.clock.now()
    this.#beat()
    // Whoever hears that it is open finds the role and the definitions there.
    this.#status = 'open'
    this.#owner.opened(frame)
    this.#owner.changed('open')
  }

  #beat(): void {
    const { clock } = this.#options
    this.#cancelTimer = clock.after(pingMs, () => {
      this.send({ type: 'ping' })
      this.#cancelPong = clock.after(pongMs, () => this.#lose())
      this.#beat()
    })
  }

  /** The connection is gone, or given up; `why` is what the WebSocket says, which browsers' do not. */
  #lose(code?: number, why = code === undefined ? 'it was refused' : `it was closed with ${code}`): void {
    const { clock, retry, random } = this.#options
    const wasOpen = this.#status === 'open'
    this.#hangUp()
    if (code === closeCodes.unauthorised) {
      const said = this.#lastError ?? errorInfo('BRIDGE_UNAUTHORISED', 'The server refused the connection.')
      return this.close(remoteError(said))
    }
    if (!this.#wasOpen && this.#problem === undefined) {
      this.#problem = this.#unreachable(why)
      this.#owner.report(this.#problem)
    }
    if (this.#status === 'closed') return
    if (wasOpen && clock.now() - this.#openedAt >= steadyMs) this.#attempt = 0
    const wait = backoffDelay(this.#attempt, retry, random())
    this.#retryAt = clock.now() + wait
    this.#cancelTimer = clock.after(wait, () => this.#dial())
    this.#attempt += 1
    if (wasOpen) this.#owner.lost()
    this.#become(this.#wasOpen ? 'reconnecting' : 'connecting')
  }

  #unreachable(why: string): ErrorInfo {
    return errorInfo('BRIDGE_UNREACHABLE', `There is no connection to ${this.#options.url}: ${why.replace(/\.$/, '')}.`)
  }

  #hangUp(): void {
    this.#cancelTimer()
    this.#cancelPong?.()
    this.#cancelPong = undefined
    const socket = this.#socket
    this.#socket = undefined
    try {
      socket?.close(1000)
    } catch {
      // It never opened.
    }
  }

  #become(status: ClientStatus): void {
    if (this.#status === status) return
    this.#status = status
    this.#owner.changed(status)
  }
}

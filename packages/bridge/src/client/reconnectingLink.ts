import { errorInfo, messageOf, RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { ClientFrame, ServerFrame } from '../../../wire/src/frames.ts'
import { bridgeProtocol, closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { backoffDelay } from '../../../../src/protocol/backoffDelay.ts'
import { closedError, remoteError } from './answers.ts'
import { readFrames } from './readFrames.ts'
import type { CheckedOptions, TokenSource, WebSocketPort } from './connectOptions.ts'
import { tokenProtocol } from './sessionId.ts'

/** Status of a client. `connecting` until the server has sent its first welcome. `closed` is final. */
export type ClientStatus = 'connecting' | 'open' | 'reconnecting' | 'closed'

export type WelcomeFrame = Extract<ServerFrame, { type: 'welcome' }>

/** Timeout for the welcome, interval between pings, and timeout for a pong, in milliseconds. */
const welcomeMs = 10_000
const pingMs = 20_000
const pongMs = 10_000
/** Time in milliseconds after which a connection resets the back-off. */
const steadyMs = 5_000

/** Callbacks of a link. */
export interface LinkOwner {
  opened(welcome: WelcomeFrame): void
  received(frame: ServerFrame): void
  /** Called when the connection broke and another one is being made. */
  lost(): void
  /** Called when the link is closed for good. */
  closed(error: RuntimeError): void
  changed(status: ClientStatus): void
  report(error: ErrorInfo): void
}

/** State of a link. `idle`: it is not open yet, or a lost connection is being handled. */
type State =
  | { readonly type: 'idle' | 'closed' }
  /** The application is being asked for a token. */
  | { readonly type: 'authorising' }
  | { readonly type: 'connecting'; readonly socket: WebSocketPort }
  | { readonly type: 'open'; readonly socket: WebSocketPort; readonly since: number }
  | { readonly type: 'waiting'; readonly retryAt: number }

/** The session of all of the link's connections. `sessionKey` proves that it is the client's if the token does not. */
interface LinkSession {
  readonly sessionId: string
  readonly sessionKey: string | undefined
}

/** Connects to the same server again and again, under the same session, until it is closed. */
export class Link {
  readonly #options: CheckedOptions
  readonly #session: LinkSession
  readonly #owner: LinkOwner
  #state: State = { type: 'idle' }
  #hasBeenOpen = false
  /** The last reported status. */
  #lastStatus: ClientStatus = 'connecting'
  #attempt = 0
  /** Number of consecutive connections that were refused because of their token. */
  #refusals = 0
  /** Cancels the timer of the next attempt, the welcome or the next ping. The others: the answer to a ping, and `connectTimeoutMs`. */
  #cancelTimer: () => void = () => {}
  #cancelPong: (() => void) | undefined
  #cancelTimeout: (() => void) | undefined
  /** Reason why there is no connection yet. Reported once. */
  #problem: ErrorInfo | undefined
  /** The last error that answered no command: the reason for a close. */
  #lastError: ErrorInfo | undefined

  constructor(options: CheckedOptions, session: LinkSession, owner: LinkOwner) {
    this.#options = options
    this.#session = session
    this.#owner = owner
  }

  get status(): ClientStatus {
    const { type } = this.#state
    if (type === 'open' || type === 'closed') return type
    return this.#hasBeenOpen ? 'reconnecting' : 'connecting'
  }

  /** Time of the next attempt, in epoch milliseconds; `undefined` while connected or connecting. */
  get retryAt(): number | undefined {
    return this.#state.type === 'waiting' ? this.#state.retryAt : undefined
  }

  get #socket(): WebSocketPort | undefined {
    return 'socket' in this.#state ? this.#state.socket : undefined
  }

  /** Connects. Call it once. */
  open(): void {
    const { clock, connectTimeoutMs } = this.#options
    if (connectTimeoutMs !== undefined)
      this.#cancelTimeout = clock.after(connectTimeoutMs, () => {
        const problem = this.#problem ?? this.#unreachable(`no welcome came within ${connectTimeoutMs} ms`)
        this.close(remoteError(problem))
      })
    this.#dial()
  }

  /** Sends a frame. Does nothing while the link is not connected. */
  send(frame: ClientFrame): void {
    this.sendText(JSON.stringify(frame))
  }

  /** Sends a serialised frame. Does nothing while the link is not connected. */
  sendText(text: string): void {
    try {
      this.#socket?.send(text)
    } catch {
      // It is closing: commands will be sent again.
    }
  }

  /** Closes the link for good. Idempotent. */
  close(error: RuntimeError = closedError()): void {
    if (this.#state.type === 'closed') return
    this.#cancelTimeout?.()
    this.#hangUp()
    this.#state = { type: 'closed' }
    this.#tellStatus()
    this.#owner.closed(error)
  }

  #dial(): void {
    const { token } = this.#options
    if (typeof token === 'function') void this.#dialWith(token)
    else this.#dialBy(token)
  }

  async #dialWith(source: TokenSource): Promise<void> {
    const asking: State = { type: 'authorising' }
    this.#state = asking
    this.#cancelTimer = this.#options.clock.after(welcomeMs, () => this.#lose(undefined, 'there is no token yet'))
    try {
      // Not at once: whoever connects has had no chance to listen for errors.
      const token = await Promise.resolve().then(source)
      // It was closed, or gave up waiting.
      if (this.#state !== asking) return
      this.#cancelTimer()
      this.#dialBy(token)
    } catch (thrown) {
      if (this.#state !== asking) return
      if (this.#hasBeenOpen) this.#owner.report(this.#unreachable(`its token failed: ${messageOf(thrown)}`))
      this.#lose(undefined, `its token failed: ${messageOf(thrown)}`)
    }
  }

  #dialBy(token: string | undefined): void {
    const { url, webSocket, clock } = this.#options
    let socket: WebSocketPort
    try {
      const protocols = token === undefined ? [bridgeProtocol] : [bridgeProtocol, tokenProtocol(token)]
      socket = new webSocket(url, protocols) as WebSocketPort
    } catch (thrown) {
      return this.close(new RuntimeError('INVALID_OPTION', `connect: ${messageOf(thrown)}.`))
    }
    this.#state = { type: 'connecting', socket }
    this.#lastError = undefined
    const isCurrent = (): boolean => this.#socket === socket
    socket.addEventListener('open', () => {
      if (!isCurrent()) return
      const { sessionId, sessionKey } = this.#session
      const key = sessionKey === undefined ? {} : { sessionKey }
      this.send({ type: 'hello', sessionId, ...key, ...(token === undefined ? {} : { token }) })
    })
    socket.addEventListener('message', ({ data }: { readonly data: unknown }) => {
      if (isCurrent()) this.#receive(data, socket)
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

  #receive(data: unknown, socket: WebSocketPort): void {
    this.#cancelPong?.()
    this.#cancelPong = undefined
    for (const frame of readFrames(data, (error) => this.#owner.report(error))) {
      // An earlier frame may have led to the client being closed.
      if (this.#socket !== socket) return
      if (frame.type === 'welcome') this.#opened(socket, frame)
      else if (frame.type === 'closing') return this.#lose()
      else if (frame.type !== 'pong') {
        if (frame.type === 'error' && frame.id === undefined) this.#lastError = frame
        this.#pass(frame)
      }
    }
  }

  /** Handles a frame. If its handler throws, the next frame is still read. */
  #pass(frame: ServerFrame): void {
    try {
      this.#owner.received(frame)
    } catch (thrown) {
      this.#owner.report(toErrorInfo(thrown, 'INTERNAL'))
    }
  }

  #opened(socket: WebSocketPort, frame: WelcomeFrame): void {
    this.#cancelTimer()
    this.#cancelTimeout?.()
    this.#hasBeenOpen = true
    this.#refusals = 0
    this.#state = { type: 'open', socket, since: this.#options.clock.now() }
    this.#pingLater()
    // Set before the status is reported: listeners read the role and the definitions.
    this.#owner.opened(frame)
    this.#tellStatus()
  }

  #pingLater(): void {
    const { clock } = this.#options
    this.#cancelTimer = clock.after(pingMs, () => {
      this.send({ type: 'ping' })
      this.#cancelPong = clock.after(pongMs, () => this.#lose())
      this.#pingLater()
    })
  }

  /** Handles a connection that is lost or given up. `why` comes from the WebSocket, though not in browsers. */
  #lose(code?: number, why = code === undefined ? 'it was refused' : `it was closed with ${code}`): void {
    const { clock, retry, random } = this.#options
    const since = this.#state.type === 'open' ? this.#state.since : undefined
    this.#hangUp()
    if (code === closeCodes.unauthorised && !this.#mayTryAnotherToken()) {
      const error = this.#lastError ?? errorInfo('BRIDGE_UNAUTHORISED', 'The server refused the connection.')
      return this.close(remoteError(error))
    }
    if (!this.#hasBeenOpen && this.#problem === undefined) {
      this.#problem = this.#unreachable(why)
      this.#owner.report(this.#problem)
    }
    // A listener may have closed the client.
    if (this.status === 'closed') return
    if (since !== undefined && clock.now() - since >= steadyMs) this.#attempt = 0
    const wait = backoffDelay(this.#attempt, retry, random())
    this.#state = { type: 'waiting', retryAt: clock.now() + wait }
    this.#cancelTimer = clock.after(wait, () => this.#dial())
    this.#attempt += 1
    if (since !== undefined) this.#owner.lost()
    this.#tellStatus()
  }

  /** Returns true if another token may be tried. One refused token is tolerated, because it may have expired on its way. */
  #mayTryAnotherToken(): boolean {
    this.#refusals += 1
    return typeof this.#options.token === 'function' && this.#refusals === 1
  }

  #unreachable(why: string): ErrorInfo {
    return errorInfo('BRIDGE_UNREACHABLE', `There is no connection to ${this.#options.url}: ${why.replace(/\.$/, '')}.`)
  }

  #hangUp(): void {
    this.#cancelTimer()
    this.#cancelPong?.()
    this.#cancelPong = undefined
    const socket = this.#socket
    this.#state = { type: 'idle' }
    try {
      socket?.close(1000)
    } catch {
      // It never opened.
    }
  }

  #tellStatus(): void {
    const { status } = this
    if (status === this.#lastStatus) return
    this.#lastStatus = status
    this.#owner.changed(status)
  }
}

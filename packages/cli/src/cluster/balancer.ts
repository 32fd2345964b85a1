import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { agentHeader, placeRequest } from './placeRequest.ts'

/**
 * Interval between two health checks of a worker in milliseconds, and their time limit: a frozen process accepts connections without answering.
 */
const lookMs = 1_000
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS } = constants

/** Breaks off a connection, with an error code because unfinished requests would otherwise seem to have ended well. */
const giveUp = (session: ClientHttp2Session): void =>
  session.destroy(new Error('the worker is given up'), NGHTTP2_CANCEL)

/** Returns the state of a worker from the status of its answer. */
const stateOf = (status: number): 'unwell' | 'leaving' | 'well' =>
  status < 300 ? 'well' : status === 404 ? 'leaving' : 'unwell'

/** A worker that can receive requests. */
class Target {
  readonly url: string
  readonly #clock: Clock
  /** Returns true if another worker is well, so that requests need not go to this one while it is unwell. */
  readonly #hasBetter: () => boolean
  #session: ClientHttp2Session | undefined
  #cancel = (): void => {}
  #isClosed = false
  /** Result of the last health check on the current connection. An unwell worker cannot work; a leaving one only finishes its requests. */
  state: 'down' | 'unwell' | 'leaving' | 'well' = 'down'
  /** Number of requests in progress. */
  open = 0

  constructor(url: string, clock: Clock, hasBetter: () => boolean) {
    this.url = url
    this.#clock = clock
    this.#hasBetter = hasBetter
    this.#connect()
  }

  /** True while the worker accepts requests. A leaving worker accepts none and finishes those in progress. */
  get takes(): boolean {
    const session = this.#session
    return (
      this.state !== 'down' &&
      this.state !== 'leaving' &&
      session !== undefined &&
      !session.closed &&
      !session.destroyed
    )
  }

  request(headers: IncomingHttpHeaders): ClientHttp2Stream | undefined {
    return this.takes ? this.#session!.request(headers) : undefined
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#session?.destroy()
  }

  #connect(): void {
    if (this.#isClosed) return
    const session = connect(this.url)
    this.#session = session
    session.on('error', () => {})
    session.once('close', () => this.#lost(session))
    session.once('connect', () => this.#look(session))
  }

  #lost(session: ClientHttp2Session): void {
    if (this.#session !== session) return
    this.#cancel()
    this.state = 'down'
    this.#session = undefined
    this.#later(() => this.#connect())
  }

  #look(session: ClientHttp2Session): void {
    if (session.closed || session.destroyed) return
    const stop = this.#clock.after(lookMs, () => giveUp(session))
    this.#cancel = stop
    const asked = session.request({ [HTTP2_HEADER_METHOD]: 'GET', [HTTP2_HEADER_PATH]: '/health' }, { endStream: true })
    asked.on('error', () => {})
    asked.once('response', ({ [HTTP2_HEADER_STATUS]: status }) => {
      stop()
      asked.close(NGHTTP2_CANCEL)
      if (this.#session === session) this.#looked(session, stateOf(Number(status)))
    })
  }

  #looked(session: ClientHttp2Session, state: 'unwell' | 'leaving' | 'well'): void {
    this.state = state
    this.#later(() => this.#look(session))
    // What it has under way goes on elsewhere; where nobody is better off it may as well wait.
    if (state === 'unwell' && this.open > 0 && this.#hasBetter()) giveUp(session)
  }

  #later(then: () => void): void {
    if (!this.#isClosed) this.#cancel = this.#clock.after(lookMs, then)
  }
}

/**
 * A single address for all workers on this machine, as an engine needs it. An agent's requests go to the same worker as long as possible.
 * Workers on several machines need a separate balancer instead.
 */
export class Balancer {
  readonly url: string
  readonly #server: Http2Server
  readonly #clock: Clock
  readonly #targets = new Set<Target>()
  /** Open sockets. They are tracked because destroyed sessions leave them open. */
  readonly #sockets = new Set<Socket>()

  private constructor(server: Http2Server, clock: Clock) {
    this.#server = server
    this.#clock = clock
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('session', (session) => session.on('error', () => {}))
    server.on('stream', (stream, headers) => this.#forward(stream, headers))
  }

  static async listen(clock: Clock): Promise<Balancer> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
    return new Balancer(server, clock)
  }

  /** Adds a worker that receives requests. Returns a function that removes it. */
  add(url: string): () => void {
    const target = new Target(url, this.#clock, () => this.#best(undefined)?.state === 'well')
    this.#targets.add(target)
    return () => {
      this.#targets.delete(target)
      target.close()
    }
  }

  /** Returns the worker for an agent's request: one that is well, or any if none is. */
  #best(agentId: string | undefined): Target | undefined {
    const known = [...this.#targets].filter(({ takes }) => takes)
    const well = known.filter(({ state }) => state === 'well')
    return placeRequest(agentId, well.length > 0 ? well : known)
  }

  #forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => {})
    const agentId = headers[agentHeader]
    const target = this.#best(typeof agentId === 'string' ? agentId : undefined)
    const request = target?.request(withoutAuthority(headers))
    if (target === undefined || request === undefined) {
      stream.respond({ [HTTP2_HEADER_STATUS]: 503 }, { endStream: true })
      return
    }
    target.open++
    request.on('error', () => {})
    request.once('response', (answer) => {
      if (!stream.destroyed) stream.respond(answer)
    })
    stream.pipe(request)
    request.pipe(stream, { end: false })
    // A stream ends too when the other end is gone: who waits must not take that for all there is.
    const isWhole = (): boolean => request.rstCode === NGHTTP2_NO_ERROR && !request.aborted
    request.once('end', () => {
      if (isWhole()) stream.end()
    })
    request.once('close', () => {
      target.open--
      // Closing it with a code would end it first, as if that were all.
      if (!isWhole()) stream.destroy(new Error('the worker is gone'))
    })
    stream.once('close', () => {
      if (!request.closed) request.close(NGHTTP2_CANCEL)
    })
  }

  async close(): Promise<void> {
    for (const target of this.#targets) target.close()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}

const withoutAuthority = ({ ':authority': _, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders => headers

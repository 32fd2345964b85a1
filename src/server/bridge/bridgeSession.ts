import type { RawData, WebSocket } from 'ws'
import { errorInfo, RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import { closeCodes, type CheckedClientFrame, type ServerFrame } from '../../protocol/frames.ts'
import type { Grant, Reach } from './access.ts'
import type { SessionAnswers } from './answers.ts'
import type { Bridge, Connection } from './bridge.ts'
import { Accepted, rights, type Commanding } from './commandTable.ts'
import { isFull } from './door.ts'
import { Outbox } from './outbox.ts'
import { withOutwardError } from './outwardError.ts'
import { readFrame, textOf } from './readFrame.ts'
import type { RefusalKind } from './refusals.ts'
import type { RosterWatcher } from './roster.ts'
import type { Source } from './source.ts'
import { SocketLife } from './socketLife.ts'
import { Subscription, type Wanted } from './subscription.ts'
import { Visit } from './visit.ts'

/** "Internal error" of the WebSocket protocol: come back later. */
const brokenCode = 1011

/** How a client came. */
interface Arrival {
  /** The token that the request for the connection brought. */
  readonly token: string | undefined
  /** It is turned away: written down for the people of the server. */
  readonly turnedAway: (kind: RefusalKind, why: string) => void
}

/** One connected client: its rights, its commands, its subscriptions. A closed socket aborts nothing. */
export class BridgeSession implements Commanding, Connection, RosterWatcher {
  readonly bridge: Bridge
  readonly #life: SocketLife
  readonly #outbox: Outbox
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #turnedAway: Arrival['turnedAway']
  #token: string | undefined
  #grant: Grant | undefined
  #visit: Visit | undefined
  /** Chosen by the client, so that its commands are known again after a reconnect. */
  #sessionId = ''
  #answers: SessionAnswers | undefined
  /** Commands are carried out in the order they came. */
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(socket: WebSocket, bridge: Bridge, { token, turnedAway }: Arrival) {
    this.bridge = bridge
    const { highWaterBytes, hardLimitBytes, framesPerSecond } = bridge.limits
    this.#life = new SocketLife(socket, bridge.clock, framesPerSecond)
    this.#outbox = new Outbox(socket, { high: highWaterBytes, hard: hardLimitBytes }, () =>
      this.close(closeCodes.stuck, 'the client does not read'),
    )
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary))
    socket.on('close', () => this.#left())
    this.#token = token
    this.#turnedAway = turnedAway
  }

  get isWelcome(): boolean {
    return this.#visit !== undefined
  }

  /** Only of a client that is welcome. */
  get visit(): Visit {
    return this.#visit!
  }

  get reach(): Reach {
    return this.visit.reach
  }

  tick(): void {
    this.#life.tick()
  }

  ping(): void {
    const isGranted = this.#grant === undefined || this.bridge.isGranted(this.#token, this.#grant)
    if (!isGranted) return this.close(closeCodes.goingAway, 'the token was changed')
    this.#life.ping()
  }

  send(frame: ServerFrame): void {
    this.#outbox.send(JSON.stringify(frame))
  }

  close(code: number, reason: string): void {
    if (this.#life.isOpen) this.#outbox.flush()
    this.#life.close(code, reason)
  }

  leave(): void {
    this.send({ type: 'closing' })
    this.close(closeCodes.goingAway, 'the server shuts down')
  }

  terminate(): void {
    this.#life.terminate()
  }

  subscribe(source: Source, wanted: Wanted): void {
    const { agentId } = source
    const { bridge } = this
    // It left while the agent was looked for.
    if (!this.#life.isOpen) return bridge.letGo(agentId)
    this.#subscriptions.get(agentId)?.close()
    this.#subscriptions.delete(agentId)
    if (this.#subscriptions.size >= bridge.limits.subscriptions) {
      bridge.letGo(agentId)
      throw new RuntimeError('BRIDGE_LIMIT', `${this.#subscriptions.size} subscriptions are the most allowed.`)
    }
    if (wanted.fromSeq > source.lastSeq + 1) {
      bridge.letGo(agentId)
      const what = `fromSeq is ${wanted.fromSeq}, but the log of agent "${agentId}" ends with ${source.lastSeq}.`
      throw new RuntimeError('INVALID_OPTION', what)
    }
    const fail = (thrown: unknown): void => {
      this.#refuse(undefined, bridge.outward(thrown, 'STORE_READ_FAILED'))
      this.close(brokenCode, 'a log cannot be read')
    }
    const { store, clock } = bridge
    this.#subscriptions.set(agentId, new Subscription({ source, store, clock, outbox: this.#outbox, wanted, fail }))
  }

  unsubscribe(agentId: string): void {
    this.#subscriptions.get(agentId)?.close()
    this.#subscriptions.delete(agentId)
    this.bridge.letGo(agentId)
  }

  get isFull(): boolean {
    return this.#outbox.isFull
  }

  watch(): void {
    if (this.#life.isOpen) this.bridge.roster.watch(this)
  }

  unwatch(): void {
    this.bridge.roster.unwatch(this)
  }

  #hear(data: RawData, isBinary: boolean): void {
    // What comes after our close is not carried out any more.
    if (!this.#life.isOpen) return
    if (!this.#life.heard() || this.#waiting > this.bridge.limits.waitingCommands) {
      this.#turnedAway('flood', 'A client sent too many frames.')
      return this.close(closeCodes.flooded, 'too many frames')
    }
    if (isBinary)
      return this.#refuse(undefined, errorInfo('BRIDGE_FRAME', 'A binary frame came; frames are JSON text.'))
    const frame = readFrame(textOf(data), this.bridge.limits.depth)
    if ('problem' in frame) return this.#refuse(frame.id, errorInfo('BRIDGE_FRAME', frame.problem))
    if (frame.type === 'hello') return this.#greet(frame)
    if (this.#visit === undefined) {
      this.#refuse(
        'id' in frame ? frame.id : undefined,
        errorInfo('BRIDGE_UNAUTHORISED', 'The first frame must be "hello".'),
      )
      this.#turnedAway('hello', 'A client did not say hello first.')
      return this.close(closeCodes.unauthorised, 'no hello')
    }
    if (frame.type === 'ping') return this.send({ type: 'pong', ...(frame.id === undefined ? {} : { id: frame.id }) })
    this.#waiting += 1
    this.#last = this.#last.then(() => this.#carryOut(frame)).finally(() => (this.#waiting -= 1))
  }

  #greet({ token = this.#token, sessionId }: Extract<CheckedClientFrame, { type: 'hello' }>): void {
    const { bridge } = this
    const { limits, definitions } = bridge
    const grant = bridge.grantOf(token)
    if (this.#visit !== undefined)
      return this.#turnAway('hello', errorInfo('BRIDGE_UNAUTHORISED', '"hello" came twice.'))
    if (grant === undefined)
      return this.#turnAway('token', errorInfo('BRIDGE_UNAUTHORISED', 'The token is missing or wrong.'))
    try {
      this.#sessionId = bridge.sessionOf(sessionId, token)
    } catch (thrown) {
      return this.#turnAway('session', bridge.outward(thrown))
    }
    if (bridge.strangers.delete(this) && bridge.connections.size - bridge.strangers.size > limits.connections) {
      this.#turnedAway('full', isFull.why)
      return this.close(closeCodes.stuck, 'as many connections as are allowed')
    }
    this.#token = token
    this.#grant = grant
    this.#answers = bridge.answers.enter(this.#sessionId, bridge.tokens === undefined ? '' : (token ?? ''))
    this.#visit = new Visit(bridge, grant)
    this.send({
      type: 'welcome',
      sessionId: this.#sessionId,
      role: grant.role,
      definitions: [...definitions.keys()],
      limits: {
        maxFrameBytes: limits.frameBytes,
        framesPerSecond: limits.framesPerSecond,
        maxSubscriptions: limits.subscriptions,
      },
    })
  }

  async #carryOut(frame: Exclude<CheckedClientFrame, { type: 'hello' | 'ping' }>): Promise<void> {
    const { id, type } = frame
    try {
      const right = rights[type]
      this.visit.mustBe(right.role, type)
      const requestId = `${this.#sessionId}/${id}`
      const run = (): unknown => right.run(this, frame as never, requestId)
      const result = await (right.isOnce ? this.#answers!.once(id, run) : run())
      if (result instanceof Accepted) void this.#answerLater(id, result)
      else this.send({ type: 'ok', id, result: result ?? null })
    } catch (thrown) {
      this.#refuse(id, this.bridge.outward(thrown))
    }
  }

  async #answerLater(id: string, { answer, ended }: Accepted): Promise<void> {
    try {
      const result = await answer
      this.send({ type: 'ok', id, result })
      const how = await ended
      if (how !== undefined) this.send({ type: 'ok', id, result: { ...result, ended: withOutwardError(how) } })
    } catch (thrown) {
      this.#refuse(id, this.bridge.outward(thrown))
    }
  }

  /** For good: the client does not come back with the same. */
  #turnAway(kind: RefusalKind, error: ErrorInfo): void {
    this.#turnedAway(kind, error.message)
    this.#refuse(undefined, error)
    this.close(closeCodes.unauthorised, 'unauthorised')
  }

  #refuse(id: string | undefined, { code, message }: ErrorInfo): void {
    this.send({ type: 'error', ...(id === undefined ? {} : { id }), code, message })
  }

  #left(): void {
    if (this.#answers !== undefined) this.bridge.answers.leave(this.#sessionId, this.bridge.clock.now())
    this.unwatch()
    for (const agentId of this.#subscriptions.keys()) this.unsubscribe(agentId)
  }
}

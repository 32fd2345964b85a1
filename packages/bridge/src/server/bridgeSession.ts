import type { RawData } from 'ws'
import { errorInfo, RuntimeError, type ErrorData, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { CheckedClientFrame, ServerFrame } from '../../../wire/src/frames.ts'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { isStillPermitted, type Permit } from './authenticator.ts'
import { subscriptionsOf } from './room.ts'
import { requestIdOf, resolveSession } from './sessionId.ts'
import { serverFull } from './admission.ts'
import { AgentAccess } from './agentAccess.ts'
import type { Bridge } from './bridge.ts'
import { ClientSubscriptions } from './clientSubscriptions.ts'
import { commandTable, DeferredAnswer, type CommandContext } from './commandTable.ts'
import { moreThanWords } from './commandRights.ts'
import type { Connection } from './connections.ts'
import type { Command, Relay } from './front.ts'
import { Outbox } from './outbox.ts'
import { withOutwardError } from './outwardError.ts'
import { readFrame, messageText } from './readFrame.ts'
import type { RefusalKind } from './refusalLog.ts'
import type { SessionResults } from './commandResults.ts'
import type { ServerSocket } from './serverSocket.ts'
import { brokenCode, SocketGuard } from './socketGuard.ts'
import { visibleEnd } from './visible.ts'

type Hello = Extract<CheckedClientFrame, { type: 'hello' }>

const expired = errorInfo('BRIDGE_EXPIRED', 'This link has expired.')

/** Maximum delay of a timer, in milliseconds. */
const mostTimerMs = 2 ** 31 - 1

/** A client's connection on arrival. */
interface Arrival {
  /** Returns the permit of the client with a token, or without one. */
  readonly permit: (token: string | undefined) => Permit | undefined | Promise<Permit | undefined>
  /** The token that the request for the connection brought. */
  readonly token: string | undefined
  /** Address that the connection comes from; missing for a client in this process. */
  readonly address?: string
  /** Logs the reason for a rejection, for the operator. */
  readonly logRefusal: (kind: RefusalKind, why: string) => void
}

/** A client that has said hello. */
interface Authenticated extends CommandContext {
  readonly permit: Permit
  /** Session id chosen by the client, so that its commands are recognised after a reconnect. */
  readonly sessionId: string
  readonly results: SessionResults
  /** Passes commands to the workers that have the agents. Set for a client of a gateway. */
  readonly relay?: Relay
}

/** One connected client: its authentication, commands and subscriptions. A closed socket aborts no runs. */
export class BridgeSession implements Connection {
  readonly #bridge: Bridge
  readonly #guard: SocketGuard
  readonly #outbox: Outbox
  readonly #arrival: Arrival
  #client: Authenticated | undefined
  /** Frames that arrive while the application decides who the client is. */
  #early: [data: RawData | string, isBinary: boolean][] | undefined
  /** The last command. Commands run in the order of arrival. */
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  #cancelExpiry: () => void = () => {}

  constructor(socket: ServerSocket, bridge: Bridge, arrival: Arrival) {
    this.#bridge = bridge
    this.#arrival = arrival
    const { highWaterBytes, hardLimitBytes, framesPerSecond } = bridge.limits
    const isGranted = (): boolean => this.#client === undefined || isStillPermitted(this.#client.permit)
    this.#guard = new SocketGuard(socket, { clock: bridge.clock, framesPerSecond, isGranted })
    this.#outbox = new Outbox(socket, { high: highWaterBytes, hard: hardLimitBytes }, () =>
      this.close(closeCodes.stuck, 'the client does not read'),
    )
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    socket.on('close', () => this.#disconnected())
  }

  get isAuthenticated(): boolean {
    return this.#client !== undefined
  }

  /** True while the application has not decided yet. */
  get isAuthenticating(): boolean {
    return this.#early !== undefined
  }

  tick(): void {
    this.#guard.tick()
  }

  ping(): void {
    this.#outbox.flush()
    this.#guard.ping()
  }

  close(code: number, reason: string): void {
    if (this.#guard.isOpen) this.#outbox.flush()
    this.#guard.close(code, reason)
  }

  leave(): void {
    this.#send({ type: 'closing' })
    this.close(closeCodes.goingAway, 'the server shuts down')
  }

  terminate(): void {
    this.#guard.terminate()
  }

  #send(frame: ServerFrame): void {
    this.#outbox.send(JSON.stringify(frame))
  }

  #receive(data: RawData | string, isBinary: boolean): void {
    // Frames that arrive after our close are ignored.
    if (!this.#guard.isOpen) return
    const waiting = this.#early?.length ?? this.#waiting + (this.#client?.relay?.waiting ?? 0)
    if (!this.#guard.admit() || waiting > this.#bridge.limits.waitingCommands) {
      this.#arrival.logRefusal('flood', 'A client sent too many frames.')
      return this.close(closeCodes.flooded, 'too many frames')
    }
    if (this.#early !== undefined) this.#early.push([data, isBinary])
    else this.#read(data, isBinary)
  }

  #read(data: RawData | string, isBinary: boolean): void {
    if (!this.#guard.isOpen) return
    if (isBinary)
      return this.#sendError(undefined, errorInfo('BRIDGE_FRAME', 'A binary frame came; frames are JSON text.'))
    const frame = readFrame(messageText(data), this.#bridge.limits.depth)
    if ('problem' in frame) return this.#sendError(frame.id, errorInfo('BRIDGE_FRAME', frame.problem))
    if (frame.type === 'hello') return this.#authenticate(frame)
    const client = this.#client
    if (client === undefined) {
      this.#sendError(
        'id' in frame ? frame.id : undefined,
        errorInfo('BRIDGE_UNAUTHORISED', 'The first frame must be "hello", with a token.'),
      )
      this.#arrival.logRefusal('hello', 'A client did not say hello first.')
      return this.close(closeCodes.unauthorised, 'no hello')
    }
    if (frame.type === 'ping') return this.#send({ type: 'pong', ...(frame.id === undefined ? {} : { id: frame.id }) })
    if (client.relay?.takes(frame) === true) return
    this.#waiting += 1
    this.#last = this.#last.then(() => this.#execute(client, frame)).finally(() => (this.#waiting -= 1))
  }

  #authenticate(hello: Hello): void {
    if (this.#client !== undefined)
      return this.#reject('hello', errorInfo('BRIDGE_UNAUTHORISED', '"hello" came twice.'))
    const permit = this.#arrival.permit(hello.token ?? this.#arrival.token)
    if (permit instanceof Promise || this.#bridge.front !== undefined) void this.#enterLater(hello, permit)
    else void this.#enter(hello, permit)
  }

  async #enterLater(hello: Hello, deciding: Permit | undefined | Promise<Permit | undefined>): Promise<void> {
    this.#early = []
    const early = this.#early
    try {
      const permit = await deciding
      if (this.#guard.isOpen) await this.#enter(hello, permit)
    } catch (thrown) {
      // It is to come back.
      this.#sendError(undefined, this.#bridge.outward(thrown))
      this.close(closeCodes.stuck, 'authentication failed')
    }
    this.#early = undefined
    for (const [data, isBinary] of early) this.#read(data, isBinary)
  }

  #enter(
    { sessionId: asked, sessionKey, token = this.#arrival.token }: Hello,
    permit: Permit | undefined,
  ): void | Promise<void> {
    const bridge = this.#bridge
    const { limits, connections, unauthenticated } = bridge
    if (permit === undefined)
      return this.#reject(
        'token',
        bridge.authenticator.hasExpired(token)
          ? expired
          : errorInfo(
              'BRIDGE_UNAUTHORISED',
              'The token is missing or wrong, or the application did not recognise the client.',
            ),
      )
    const { grant, session } = permit
    const key = permit.owner === undefined ? undefined : (sessionKey ?? token)
    const isProven = session?.isProven ?? key !== undefined
    // Nothing says who comes but that it comes over this connection.
    const isPassing = session?.isPassing ?? (!isProven && permit.isUnnamed === true)
    const owner = isPassing && session === undefined ? `connection ${bridge.newId()}` : permit.owner
    let sessionId: string
    try {
      sessionId = session?.id ?? resolveSession(asked, key, () => bridge.newId())
      // Nothing proves whose it is: it must not be that of somebody else.
      if (!isProven) bridge.results.checkOwner(sessionId, owner ?? '')
    } catch (thrown) {
      return this.#reject('session', bridge.outward(thrown))
    }
    const { address = '' } = this.#arrival
    const isOneTooMany = unauthenticated.delete(this) && connections.size - unauthenticated.size > limits.connections
    if (isOneTooMany || !bridge.room.has(permit, address)) {
      this.#arrival.logRefusal('full', serverFull.why)
      return this.close(closeCodes.stuck, 'as many connections as are allowed')
    }
    bridge.room.take(this, permit, address)
    const access = new AgentAccess(bridge, grant, { sessionId, who: owner, permit })
    const subscriptions = new ClientSubscriptions(bridge, this.#outbox, {
      reach: access.reach,
      view: access.view,
      find: access.find,
      most: subscriptionsOf(permit, limits.subscriptions),
      isOpen: () => this.#guard.isOpen,
      fail: (thrown) => {
        this.#sendError(undefined, bridge.outward(thrown, 'STORE_READ_FAILED'))
        this.close(brokenCode, 'a log cannot be read')
      },
    })
    const enter = (relay?: Relay): void => {
      const results = bridge.results.enter(sessionId, owner ?? '', isPassing)
      this.#client = { bridge, access, subscriptions, permit, sessionId, results, ...(relay && { relay }) }
      if (permit.expiresAt !== undefined) this.#leaveAt(permit.expiresAt)
      this.#welcome(this.#client)
    }
    if (bridge.front === undefined) return enter()
    const client = {
      permit: { ...permit, owner },
      session: { id: sessionId, isProven, isPassing },
      outbox: this.#outbox,
      fail: (error: ErrorInfo) => {
        this.#sendError(undefined, error)
        this.close(closeCodes.stuck, 'try again')
      },
    }
    return bridge.front.enter(client).then((relay) => (this.#guard.isOpen ? enter(relay) : relay.close()))
  }

  #welcome({ access, permit, sessionId, relay }: Authenticated): void {
    const { limits, alertUsd } = this.#bridge
    const definitions = relay?.definitions ?? access.knownDefinitions
    const descriptions = relay === undefined ? access.descriptions : relay.descriptions
    this.#send({
      type: 'welcome',
      sessionId,
      ...(permit.grant.role === undefined ? {} : { role: permit.grant.role }),
      may: [...access.rights],
      definitions,
      ...(descriptions === undefined ? {} : { descriptions }),
      ...(alertUsd === undefined ? {} : { alertUsd }),
      limits: {
        maxFrameBytes: limits.frameBytes,
        framesPerSecond: limits.framesPerSecond,
        maxSubscriptions: subscriptionsOf(permit, limits.subscriptions),
      },
    })
  }

  /** Ends a share link's connection when the link expires. */
  #leaveAt(expiresAt: number): void {
    const { clock } = this.#bridge
    this.#cancelExpiry = clock.after(Math.min(Math.max(expiresAt - clock.now(), 0), mostTimerMs), () => {
      if (clock.now() < expiresAt) this.#leaveAt(expiresAt)
      else this.#reject('token', expired)
    })
  }

  async #execute(client: Authenticated, frame: Command): Promise<void> {
    const { id, type } = frame
    try {
      // It may have waited for those before it.
      client.access.checkAdmitted()
      const command = commandTable[type]
      client.access.must(command.needs, type)
      const more = command.needsToo?.(frame as never)
      if (more !== undefined) client.access.must(more, moreThanWords(type))
      if ((type === 'session.list' || type === 'waiting.list') && client.relay !== undefined)
        client.access.runElsewhere = await client.relay.running()
      const requestId = requestIdOf(client.sessionId, id)
      const run = (): unknown => command.run(client, frame as never, requestId)
      const result = await (command.isOnce ? client.results.once(id, run) : run())
      if (result instanceof DeferredAnswer) void this.#answerLater(id, result, client.access)
      else this.#send({ type: 'ok', id, result: result ?? null })
    } catch (thrown) {
      this.#sendError(id, this.#bridge.outward(thrown), thrown instanceof RuntimeError ? thrown.data : undefined)
    }
  }

  async #answerLater(id: string, { answer, ended }: DeferredAnswer, access: AgentAccess): Promise<void> {
    try {
      const result = await answer
      this.#send({ type: 'ok', id, result })
      const how = await ended
      if (how === undefined) return
      this.#send({ type: 'ok', id, result: { ...result, ended: visibleEnd(withOutwardError(how), access.view) } })
    } catch (thrown) {
      this.#sendError(id, this.#bridge.outward(thrown))
    }
  }

  /** Rejects the client for good: it will not try again with the same credentials. */
  #reject(kind: RefusalKind, error: ErrorInfo): void {
    this.#arrival.logRefusal(kind, error.message)
    this.#sendError(undefined, error)
    this.close(closeCodes.unauthorised, 'unauthorised')
  }

  #sendError(id: string | undefined, { code, message }: ErrorInfo, elsewhere?: ErrorData): void {
    const where = elsewhere === undefined ? {} : { elsewhere }
    this.#send({ type: 'error', ...(id === undefined ? {} : { id }), code, message, ...where })
  }

  #disconnected(): void {
    this.#cancelExpiry()
    if (this.#client === undefined) return
    this.#bridge.results.leave(this.#client.sessionId, this.#bridge.clock.now())
    this.#client.subscriptions.close()
    this.#client.relay?.close()
  }
}

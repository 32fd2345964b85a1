import { remoteError } from '../../../bridge/src/client/answers.ts'
import { sessionMark } from '../../../bridge/src/client/sessionId.ts'
import type { WebSocketPort } from '../../../bridge/src/client/connectOptions.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError, toErrorInfo } from '../../../../src/protocol/errors.ts'
import type { ClientFrame, ServerFrame } from '../../../wire/src/frames.ts'
import { answered, type Birth, type Outcome } from './carried.ts'
import { hostIn } from './hostFrames.ts'
import type { Asked, Ingress } from './ingress.ts'
import { LogFollower } from './logFollower.ts'
import {
  agentsIn,
  conversationIn,
  forkIn,
  searchIn,
  spendIn,
  waitingIn,
  sessionsIn,
  snapshotIn,
  type Shelf,
} from './storeFrames.ts'
import { wasRecorded } from './wasRecorded.ts'

/** Parts that a socket uses to answer. */
export interface SocketParts extends Shelf {
  readonly ingress: Ingress
  readonly clock: Clock
  readonly pollMs: number
  /** Returns the first state of an agent that is new when a command reaches it. */
  birthOf(agentId: string): Birth
  /** Known `seq` of the last record in the logs of agents without followers. */
  readonly known: Map<string, number>
}

type Frame = Exclude<ClientFrame, { type: 'hello' | 'ping' }>
type HostSend = Extract<Frame, { type: 'host.send' }>
type CommandFrame = Extract<Frame, { agentId: string; id: string }>

/** Commands that reach an agent at once, and begin a run for which the client waits. */
const begins: ReadonlySet<string> = new Set(['agent.prompt', 'agent.resume', 'agent.interrupt'])

/**
 * Replaces a client's connection to a server. Commands go to the engine, and queries are answered
 * from the store, so that a client follows runs behind an engine with the same code.
 */
export class EngineSocket implements WebSocketPort {
  readonly #parts: SocketParts
  readonly #followers = new Map<string, LogFollower>()
  readonly #listeners = new Map<string, (event: never) => void>()
  #mark = ''
  readonly #closing = new AbortController()

  constructor(parts: SocketParts) {
    this.#parts = parts
    queueMicrotask(() => this.#tell('open', {}))
  }

  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void {
    this.#listeners.set(type, listener)
  }

  send(text: string): void {
    const frame = JSON.parse(text) as ClientFrame
    if (frame.type === 'hello') return this.#welcome(frame.sessionId ?? '')
    if (frame.type === 'ping') return this.#send({ type: 'pong' })
    void this.#answer(frame)
  }

  close(): void {
    this.#closing.abort()
    for (const agentId of this.#followers.keys()) this.#unfollow(agentId)
    this.#tell('close', { code: 1000 })
  }

  #tell(type: string, event: object): void {
    this.#listeners.get(type)?.(event as never)
  }

  #send(frame: ServerFrame): void {
    if (!this.#closing.signal.aborted) this.#tell('message', { data: JSON.stringify(frame) })
  }

  #welcome(sessionId: string): void {
    this.#mark = sessionMark(sessionId)
    const { definitions } = this.#parts
    const described = [...definitions.values()].filter(({ description }) => description !== '')
    const limits = { maxFrameBytes: 64 * 1024 * 1024, framesPerSecond: 1e9, maxSubscriptions: 1e9 }
    this.#send({
      type: 'welcome',
      sessionId,
      role: 'admin',
      definitions: [...definitions.keys()],
      descriptions: Object.fromEntries(described.map(({ name, description }) => [name, description])),
      limits,
    })
  }

  async #answer(frame: Frame): Promise<void> {
    const { id } = frame
    try {
      const result = await this.#resultOf(frame)
      this.#send({ type: 'ok', id, result: result ?? {} })
    } catch (thrown) {
      this.#send({ type: 'error', id, ...toErrorInfo(thrown, 'INTERNAL') })
    }
  }

  #resultOf(frame: Frame): Promise<object> | object | undefined {
    switch (frame.type) {
      case 'agent.spawn':
        return this.#spawn(frame)
      case 'agent.list':
        return agentsIn(this.#parts, frame)
      case 'session.list':
        return sessionsIn(this.#parts, frame)
      case 'session.search':
        return searchIn(this.#parts, frame)
      case 'session.spend':
        return spendIn(this.#parts, frame)
      case 'waiting.list':
        return waitingIn(this.#parts, frame)
      case 'agent.snapshot':
        return snapshotIn(this.#parts, frame.agentId)
      case 'agent.conversation':
        return conversationIn(this.#parts, frame)
      case 'agent.fork':
        return forkIn(this.#parts, frame)
      case 'agent.subscribe':
        return this.#follow(frame.agentId, (frame.fromSeq ?? 1) - 1)
      case 'agent.unsubscribe':
        return this.#unfollow(frame.agentId)
      case 'host.send':
        return this.#event(frame)
      case 'host.read':
        return hostIn(this.#parts, frame, this.#closing.signal)
      case 'agent.past':
      case 'agent.share':
      case 'agent.watch':
      case 'agent.unwatch':
      case 'worker.list':
      case 'host.list':
        throw new RuntimeError('ENGINE_UNSUPPORTED', `${frame.type}: this needs a server; connect to a gateway for it.`)
      default:
        return this.#command(frame)
    }
  }

  /** Resolves once the engine has the command; a decision resolves once it is recorded. */
  async #command(frame: CommandFrame): Promise<object> {
    const { id, type, agentId, ...said } = frame
    const requestId = `${this.#mark}/${id}`
    const verb = type.replace(/^agent\./, '')
    const body = { ...said, ...this.#parts.birthOf(agentId), requestId }
    if (begins.has(type)) {
      void this.#run({ id, agentId, verb, body, requestId })
      return { requestId }
    }
    return await this.#bring({ agentId, verb, body, requestId })
  }

  async #event({ id, hostId: agentId, event, requestId = `${this.#mark}/${id}` }: HostSend): Promise<object> {
    await this.#bring({ agentId, verb: 'event', body: { event, requestId }, requestId })
    return {}
  }

  async #bring({ agentId, verb, body, requestId }: Asked): Promise<object> {
    const { ingress, store } = this.#parts
    await ingress.call({ agentId, verb, body, requestId })
    if (!answered.has(verb)) return { requestId }
    const settled = new AbortController()
    try {
      const carried = this.#carried(agentId, { ...body, verb }, requestId)
      const recorded = wasRecorded({ ...this.#parts, store, agentId, requestId, signal: settled.signal })
      const outcome = await (verb === 'stop' ? carried : Promise.race([carried, recorded]))
      if (outcome?.status === 'refused') throw refusal(outcome)
    } finally {
      settled.abort()
    }
    return { requestId }
  }

  /** Returns the outcome of a command in the mailbox. The engine already has the command, and recognizes it by its id. */
  #carried(agentId: string, body: object, requestId: string): Promise<Outcome> {
    return this.#parts.ingress.call<Outcome>({ agentId, verb: 'carry', body, requestId })
  }

  /** Reports the end of a run where its log does not. */
  async #run({ id, agentId, verb, body, requestId }: Running): Promise<void> {
    const { ingress } = this.#parts
    try {
      const first = await ingress.call<Outcome>({ agentId, verb, body, requestId })
      const outcome = verb === 'interrupt' ? await this.#carried(agentId, { ...body, verb }, requestId) : first
      if (outcome.status === 'refused') throw refusal(outcome)
      await this.#followers.get(agentId)?.poke()
      const { status, stopReason, error } = outcome
      if (status === 'waiting' || status === 'paused') return
      const ended = { stopReason: stopReason ?? 'aborted', ...(error === undefined ? {} : { error }) }
      this.#send({ type: 'ok', id, result: { requestId, ended } })
    } catch (thrown) {
      this.#send({ type: 'error', id, ...toErrorInfo(thrown, 'INTERNAL') })
    }
  }

  async #spawn(frame: Extract<Frame, { type: 'agent.spawn' }>): Promise<object> {
    const { id, definition, agentId = '', incognito, metadata } = frame
    if (incognito === true)
      throw new RuntimeError('ENGINE_UNSUPPORTED', 'agent.spawn: what is not stored cannot go from worker to worker.')
    const requestId = `${this.#mark}/${id}`
    const body = { definition, requestId, ...(metadata === undefined ? {} : { metadata }), isNew: true }
    const outcome = await this.#parts.ingress.call<Outcome>({ agentId, verb: 'open', body, requestId })
    if (outcome.status === 'refused') throw refusal(outcome)
    return { agentId, seq: outcome.seq }
  }

  #follow(agentId: string, after: number): object {
    this.#unfollow(agentId)
    const { store, clock, pollMs } = this.#parts
    const follower = new LogFollower({
      agentId,
      store,
      clock,
      pollMs,
      after,
      onEvent: (event) => this.#send({ type: 'event', agentId, seq: event.seq, event }),
      onCaughtUp: (seq) => this.#send({ type: 'caughtUp', agentId, seq }),
      onFailure: (thrown) => this.#send({ type: 'error', ...toErrorInfo(thrown, 'STORE_READ_FAILED') }),
    })
    this.#followers.set(agentId, follower)
    return { seq: after }
  }

  #unfollow(agentId: string): undefined {
    const follower = this.#followers.get(agentId)
    if (follower === undefined) return
    follower.close()
    this.#parts.known.set(agentId, follower.seq)
    this.#followers.delete(agentId)
  }
}

interface Running {
  readonly id: string
  readonly agentId: string
  readonly verb: string
  readonly body: object
  readonly requestId: string
}

/** Converts a worker's refusal to an error with the same code and message. */
const refusal = ({ error }: Outcome): RuntimeError => remoteError(error!)

import { nanoid } from 'nanoid'
import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { Clock } from '../../protocol/clock.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Store } from '../../protocol/store.ts'
import type { Agent } from '../agent.ts'
import type { Tokens } from './access.ts'
import type { BridgeSession } from './bridgeSession.ts'
import { Feed } from './feed.ts'
import type { BridgeLimits } from './limits.ts'

/** What the bridge needs of its runtime. */
export interface BridgeRuntime {
  agents(): Agent[]
  agent(id: string): Agent | undefined
  spawn(definition: AgentDefinition, options?: { id?: string }): Promise<Agent>
  resume(agentId: string, definition: AgentDefinition): Promise<Agent>
}

/** Answers kept per bridge, so that a command sent again after a reconnect is answered as before. */
const keptAnswers = 10_000

/** What the clients of one server share: agents, their feeds, commands already carried out. */
export class Bridge {
  readonly store: Store
  readonly clock: Clock
  readonly limits: BridgeLimits
  readonly tokens: Tokens | undefined
  readonly definitions: ReadonlyMap<string, AgentDefinition>
  readonly sessions = new Set<BridgeSession>()
  readonly #runtime: BridgeRuntime
  readonly #feeds = new Map<string, Feed>()
  readonly #answers = new Map<string, Promise<unknown>>()
  readonly #waking = new Map<string, Promise<Agent>>()
  #onEmpty: (() => void) | undefined
  /** Requests an agent's log knows of, read once an agent. */
  readonly #asked = new WeakMap<Agent, Promise<Set<string>>>()

  constructor(runtime: BridgeRuntime, parts: Pick<Bridge, 'store' | 'clock' | 'limits' | 'tokens' | 'definitions'>) {
    this.#runtime = runtime
    this.store = parts.store
    this.clock = parts.clock
    this.limits = parts.limits
    this.tokens = parts.tokens
    this.definitions = parts.definitions
  }

  newId(): string {
    return nanoid(16)
  }

  agents(): Agent[] {
    return this.#runtime.agents()
  }

  spawn(name: string, id: string | undefined): Promise<Agent> {
    const definition = this.definitions.get(name)
    if (definition === undefined) {
      const known = [...this.definitions.keys()].join(', ') || 'none'
      throw new RuntimeError('INVALID_OPTION', `There is no definition ${JSON.stringify(name)} (there are: ${known}).`)
    }
    return this.#runtime.spawn(definition, id === undefined ? {} : { id })
  }

  /** An agent that runs, or goes on from its log now. @throws RuntimeError `AGENT_NOT_FOUND` */
  agentFor(agentId: string): Promise<Agent> {
    const agent = this.#runtime.agent(agentId)
    if (agent !== undefined) return Promise.resolve(agent)
    const waking = this.#waking.get(agentId) ?? this.#wake(agentId)
    this.#waking.set(agentId, waking)
    return waking.finally(() => this.#waking.delete(agentId))
  }

  async #wake(agentId: string): Promise<Agent> {
    for await (const record of this.store.read(agentId)) {
      const definition = record.type === 'agent.created' ? this.definitions.get(record.definition) : undefined
      if (definition !== undefined) return await this.#runtime.resume(agentId, definition)
      break
    }
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no agent "${agentId}" here.`)
  }

  /** The feed of an agent that runs. */
  feedOf(agentId: string): Feed {
    const known = this.#feeds.get(agentId)
    if (known !== undefined) return known
    const feed = new Feed(this.#runtime.agent(agentId)!)
    this.#feeds.set(agentId, feed)
    return feed
  }

  /** A client unsubscribed: a feed nobody reads is given up. */
  letGo(agentId: string): void {
    const feed = this.#feeds.get(agentId)
    if (feed === undefined || !feed.isEmpty) return
    feed.close()
    this.#feeds.delete(agentId)
  }

  /** Carries a command out once: the same id gets the same answer. */
  once(id: string, run: () => unknown): Promise<unknown> {
    const known = this.#answers.get(id)
    if (known !== undefined) return known
    const answer = Promise.resolve().then(run)
    this.#answers.set(id, answer)
    // A refused command may be tried again.
    answer.catch(() => this.#answers.delete(id))
    if (this.#answers.size > keptAnswers) this.#answers.delete(this.#answers.keys().next().value!)
    return answer
  }

  /** Whether an agent's log has this request already: from before the server was started again. */
  async wasAsked(agent: Agent, requestId: string): Promise<boolean> {
    const asked = this.#asked.get(agent) ?? this.#readRequests(agent.id)
    this.#asked.set(agent, asked)
    return (await asked).has(requestId)
  }

  async #readRequests(agentId: string): Promise<Set<string>> {
    const asked = new Set<string>()
    for await (const record of this.store.read(agentId)) {
      if (record.type === 'run.start') asked.add(record.requestId)
      else if (record.type === 'queue.changed' && record.added !== undefined) asked.add(record.added.id)
      else if (record.type === 'revert.requested') asked.add(record.request.id)
    }
    return asked
  }

  left(session: BridgeSession): void {
    this.sessions.delete(session)
    if (this.sessions.size === 0) this.#onEmpty?.()
  }

  /** Calls once the last client has left. */
  onEmpty(call: () => void): void {
    this.#onEmpty = call
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds.clear()
  }
}

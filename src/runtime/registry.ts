import { callListener } from '../protocol/callbackBugs.ts'
import { z } from 'zod'
import { onlyFields } from '../protocol/checks/onlyFields.ts'
import { lazily } from '../protocol/lazily.ts'
import { checkedBy, RuntimeError } from '../protocol/errors.ts'
import { hasMetadata, metadataSchema, type Metadata } from '../protocol/metadata.ts'
import { Agent, type AgentOwner } from './agents/agent.ts'
import type { AgentHost } from './agents/agentHost.ts'

/** A page of agents: the agent after which it begins, and its size. */
export interface AgentPage {
  /** Id of the last agent of the previous page; omit it for the first page. */
  readonly after?: string
  /** Maximum number of agents on the page. Default 100. */
  readonly limit?: number
}

/** Filter of the agents that `runtime.agents` lists. */
export interface ListOptions {
  /** Only agents that have all of these values. */
  readonly metadata?: Metadata
  readonly page?: AgentPage
}

const optionsSchema = lazily(() =>
  onlyFields({
    metadata: metadataSchema(),
    page: onlyFields({ after: z.string(), limit: z.int().positive().default(100) }).partial({ after: true }),
  }).partial(),
)

/** The place of an agent in the registry, loaded or not. */
class Slot {
  readonly agent: Agent
  readonly host: AgentHost
  /** Neighbours in the list of roots. */
  before: Slot | undefined
  next: Slot | undefined

  constructor(host: AgentHost, owner: AgentOwner<Agent>) {
    this.host = host
    this.agent = new Agent(host, owner)
  }
}

/** A runtime's agents by id, loaded or not; those without a parent also in order of creation, unless they are incognito. */
export class Registry {
  readonly #owner: AgentOwner<Agent>
  readonly #slots = new Map<string, Slot>()
  readonly #listeners = new Set<(agent: Agent) => void>()
  #first: Slot | undefined
  #last: Slot | undefined

  constructor(owner: AgentOwner<Agent>) {
    this.#owner = owner
  }

  get(agentId: string): Agent | undefined {
    return this.#slots.get(agentId)?.agent
  }

  host(agentId: string): AgentHost | undefined {
    return this.#slots.get(agentId)?.host
  }

  /** Calls `listener` with every agent that starts, including sub-agents. Returns a function that unsubscribes it. */
  onAgent(listener: (agent: Agent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Adds an agent whose actor is running. Does nothing for an agent that was only unloaded. */
  add(host: AgentHost): void {
    const old = this.#slots.get(host.agentId)
    if (old?.host === host) return
    if (old !== undefined) this.#unlink(old)
    const slot = new Slot(host, this.#owner)
    this.#slots.set(host.agentId, slot)
    if (host.parent === undefined && !host.incognito) this.#link(slot)
    for (const listener of this.#listeners) callListener('A listener of onAgent', listener, slot.agent)
  }

  /** Removes an agent, unless another has taken its place. */
  remove(host: AgentHost): void {
    const slot = this.#slots.get(host.agentId)
    if (slot?.host !== host) return
    this.#slots.delete(host.agentId)
    this.#unlink(slot)
  }

  /** Returns agents without a parent, oldest first. @throws RuntimeError `INVALID_OPTION`, also when `after` is not one of them. */
  roots(options: ListOptions = {}): Agent[] {
    const checked = checkedBy(optionsSchema(), options, 'agents')
    const { after, limit = Infinity } = checked.page ?? {}
    const { metadata } = checked
    const agents: Agent[] = []
    for (let slot = this.#after(after); slot !== undefined && agents.length < limit; slot = slot.next)
      if (metadata === undefined || hasMetadata(slot.host.metadata, metadata)) agents.push(slot.agent)
    return agents
  }

  /** Returns all agents without a parent, including incognito ones, which `roots` leaves out. */
  everyRoot(): Agent[] {
    const incognito = [...this.#slots.values()].filter(({ host }) => host.incognito && host.parent === undefined)
    return [...this.roots(), ...incognito.map(({ agent }) => agent)]
  }

  #after(agentId: string | undefined): Slot | undefined {
    if (agentId === undefined) return this.#first
    const slot = this.#slots.get(agentId)
    if (slot !== undefined && this.#isLinked(slot)) return slot.next
    throw new RuntimeError('INVALID_OPTION', `agents: page.after: "${agentId}" is none of the agents without a parent.`)
  }

  #isLinked(slot: Slot): boolean {
    return slot.before !== undefined || this.#first === slot
  }

  #link(slot: Slot): void {
    slot.before = this.#last
    if (this.#last === undefined) this.#first = slot
    else this.#last.next = slot
    this.#last = slot
  }

  #unlink(slot: Slot): void {
    if (!this.#isLinked(slot)) return
    if (slot.before === undefined) this.#first = slot.next
    else slot.before.next = slot.next
    if (slot.next === undefined) this.#last = slot.before
    else slot.next.before = slot.before
    slot.before = undefined
    slot.next = undefined
  }
}

import { z } from 'zod'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import { Agent, type AgentBody, type AgentOwner, type AgentSeat } from './agents/agent.ts'
import type { AgentHost } from './agents/agentHost.ts'
import { UnloadedHost } from './agents/unloadedHost.ts'

/** Which of the agents: those that come after one of them, and how many. */
export interface AgentPage {
  /** Id of the last agent of the page before; without it the page is the first. */
  readonly after?: string
  /** Default 100. */
  readonly limit?: number
}

const optionsSchema = z
  .strictObject({
    page: z.strictObject({ after: z.string(), limit: z.int().positive().default(100) }).partial({ after: true }),
  })
  .partial()

/** A place that an agent keeps while its host comes and goes. */
class Seat implements AgentSeat {
  readonly agent: Agent
  body: AgentBody
  /** Of roots, as they stand in their order. */
  before: Seat | undefined
  next: Seat | undefined

  constructor(body: AgentBody, owner: AgentOwner) {
    this.body = body
    this.agent = new Agent(this, owner)
  }
}

/** The agents of a runtime by id, loaded or not; those without a parent in the order they came. */
export class Registry {
  readonly #owner: AgentOwner
  readonly #seats = new Map<string, Seat>()
  readonly #listeners = new Set<(agent: Agent) => void>()
  #first: Seat | undefined
  #last: Seat | undefined

  constructor(owner: AgentOwner) {
    this.#owner = owner
  }

  get(agentId: string): Agent | undefined {
    return this.#seats.get(agentId)?.agent
  }

  /** What runs an agent, or stands in for it. */
  body(agentId: string): AgentBody | undefined {
    return this.#seats.get(agentId)?.body
  }

  /** Calls with every agent that begins to run, sub-agents included; returns a function that ends it. */
  onSeat(listener: (agent: Agent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes in an agent whose actor runs; one that was unloaded goes on where it was. */
  seat(host: AgentHost): void {
    const old = this.#seats.get(host.agentId)
    if (old?.body instanceof UnloadedHost) {
      old.body = host
      return
    }
    if (old !== undefined) this.#unlink(old)
    const seat = new Seat(host, this.#owner)
    this.#seats.set(host.agentId, seat)
    if (host.parent === undefined) this.#link(seat)
    for (const listener of this.#listeners) listener(seat.agent)
  }

  /** Puts one in the place of another. Nothing when that is not there any more. */
  replace(body: AgentBody, other: AgentBody): void {
    const seat = this.#seats.get(body.agentId)
    if (seat?.body === body) seat.body = other
  }

  /** Takes an agent out, unless another has its place by now. */
  remove(body: AgentBody): void {
    const seat = this.#seats.get(body.agentId)
    if (seat?.body !== body) return
    this.#seats.delete(body.agentId)
    this.#unlink(seat)
  }

  /** Agents without a parent, oldest first. @throws RuntimeError `INVALID_OPTION`, also when `after` is none of them. */
  roots(options: { readonly page?: AgentPage } = {}): Agent[] {
    const checked = optionsSchema.safeParse(options)
    if (!checked.success) throw new RuntimeError('INVALID_OPTION', `agents: ${describeIssues(checked.error)}.`)
    const { after, limit = Infinity } = checked.data.page ?? {}
    const agents: Agent[] = []
    for (let seat = this.#after(after); seat !== undefined && agents.length < limit; seat = seat.next)
      agents.push(seat.agent)
    return agents
  }

  #after(agentId: string | undefined): Seat | undefined {
    if (agentId === undefined) return this.#first
    const seat = this.#seats.get(agentId)
    if (seat !== undefined && this.#isLinked(seat)) return seat.next
    throw new RuntimeError('INVALID_OPTION', `agents: page.after: "${agentId}" is none of the agents without a parent.`)
  }

  #isLinked(seat: Seat): boolean {
    return seat.before !== undefined || this.#first === seat
  }

  #link(seat: Seat): void {
    seat.before = this.#last
    if (this.#last === undefined) this.#first = seat
    else this.#last.next = seat
    this.#last = seat
  }

  #unlink(seat: Seat): void {
    if (!this.#isLinked(seat)) return
    if (seat.before === undefined) this.#first = seat.next
    else seat.before.next = seat.next
    if (seat.next === undefined) this.#last = seat.before
    else seat.next.before = seat.before
    seat.before = undefined
    seat.next = undefined
  }
}

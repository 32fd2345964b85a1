import { hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import { earliestDue } from '../../../../src/machines/schedules.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Settled } from '../../../../src/runtime/agents/settled.ts'
import { machineNamedIn } from '../../../xstate/src/hosts/naming.ts'
import type { OpenHost } from '../../../xstate/src/hosts/registry.ts'

/** Whatever an attempt drives: an agent, or a machine that is kept. */
export type Driven = Agent | DrivenMachine

/** When an agent wants to be woken: for a schedule, or for a call that sleeps; `null`: never. */
export function dueOf({ ref }: Agent): number | null {
  const context = ref?.getSnapshot().context
  return context === undefined ? null : earliestDue(context)
}

/** The world of a machine that is driven. */
interface Around {
  agent(agentId: string): Agent | undefined
  /** Resolves to true if the log of the machine has a request. */
  wasAsked(requestId: string): Promise<boolean>
}

/** A machine that is kept, as an attempt drives it: with the parts of an agent that the attempt uses. */
export class DrivenMachine {
  readonly state = 'open'
  readonly #host: OpenHost
  readonly #around: Around

  constructor(host: OpenHost, around: Around) {
    this.#host = host
    this.#around = around
  }

  get id(): string {
    return this.#host.view.id
  }

  get definition(): string {
    return this.#host.view.machine
  }

  get lastSeq(): number {
    return this.#host.view.seq
  }

  /** Its agents that are here. */
  children(): readonly Agent[] {
    const ids = this.#host.view.children.flatMap(({ agentId }) => (agentId === undefined ? [] : [agentId]))
    return ids.flatMap((id) => this.#around.agent(id) ?? [])
  }

  /** @throws RuntimeError `AGENT_NOT_FOUND`: it has no such agent, or has it no longer */
  agent(agentId: string | undefined): Agent {
    const found = this.children().find(({ id }) => id === agentId)
    if (found !== undefined) return found
    const what = agentId === undefined ? 'it takes events, and no commands of agents' : `it has no agent "${agentId}"`
    throw new RuntimeError('AGENT_NOT_FOUND', `"${this.id}" is a machine: ${what}.`)
  }

  /** Gives it an event; resolves once that is in the store and was taken. Rejects as `send` of a machine does. */
  async event(event: object, requestId: string): Promise<void> {
    try {
      await this.#host.send(event, { requestId })
    } catch (thrown) {
      // One that has come to its end may have done so by this event.
      if (!hasCode(thrown, 'MACHINE_CLOSED') || !(await this.#around.wasAsked(requestId))) throw thrown
    }
  }

  /** How it has settled. Rejects with the reason for which it was closed here, unless it has come to its end. */
  async settled({ signal }: { readonly signal: AbortSignal }): Promise<Settled> {
    for (;;) {
      await this.#host.settled({ signal })
      const { seq, status } = this.#host.view
      if (status === 'closed') throw await this.#reason()
      const agents = this.children()
      this.#checkNames(agents)
      const all = await Promise.all(agents.map((agent) => agent.settled({ signal })))
      if (this.lastSeq !== seq) continue
      const pending = all.flatMap((one) => (one.status === 'waiting' ? one.pending : []))
      if (pending.length > 0) return { status: 'waiting', seq, pending }
      return { status: 'idle', seq, reporters: all.flatMap((one) => (one.status === 'idle' ? one.reporters : [])) }
    }
  }

  async #reason(): Promise<unknown> {
    const reason: unknown = await this.#host.done.catch((thrown: unknown) => thrown)
    if (!hasCode(reason, 'MACHINE_CLOSED')) return reason
    return new RuntimeError('AGENT_DETACHED', `Machine "${this.id}" was closed here while it worked.`)
  }

  /** By its name the engine knows whose an agent is. */
  #checkNames(agents: readonly Agent[]): void {
    const other = agents.find(({ id, definition }) => machineNamedIn(id, definition) !== this.id)
    if (other === undefined) return
    const what = `gives agent "${other.id}" an id of its own, by which an engine cannot tell whose it is: leave it out`
    throw new RuntimeError('MACHINE_REFUSED', `Machine "${this.id}" ${what}.`)
  }

  /** When it or one of its agents wants to be woken; `null`: never. */
  get due(): number | null {
    const [first] = this.#host.view.timers
    const all = [first?.due ?? null, ...this.children().map(dueOf)].filter((time) => time !== null)
    return all.length === 0 ? null : Math.min(...all)
  }

  /** It hears of its agents by itself. */
  subscribe(): () => void {
    return () => {}
  }

  resume(): void {}

  /** Ends what it does, as a crash would: it goes on from its log. */
  async abort(): Promise<void> {
    await this.#host.close()
  }

  /** Releases it, unless somebody in this process has it. Never rejects. */
  async letGo(): Promise<void> {
    if (!this.#host.isAttended) await this.#host.close()
  }
}

import { hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import { earliestDue } from '../../../../src/machines/schedules.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Settled } from '../../../../src/runtime/agents/settled.ts'
import { machineNamedIn } from '../../../xstate/src/hosts/naming.ts'
import type { OpenHost } from '../../../xstate/src/hosts/registry.ts'

/** Subject of an attempt: an agent, or a machine that is kept. */
export type Driven = Agent | DrivenMachine

/** Returns the time at which an agent wants to be woken, for a schedule or a sleeping call; `null`: never. */
export function dueOf({ ref }: Agent): number | null {
  const context = ref?.getSnapshot().context
  return context === undefined ? null : earliestDue(context)
}

/** Surroundings of a driven machine. */
interface Around {
  agent(agentId: string): Agent | undefined
  /** Resolves to true if the machine's log has a request. */
  wasAsked(requestId: string): Promise<boolean>
}

/** Wraps a kept machine with the members of an agent that an attempt uses. */
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

  /** Returns the machine's agents in this process. */
  children(): readonly Agent[] {
    const ids = this.#host.view.children.flatMap(({ agentId }) => (agentId === undefined ? [] : [agentId]))
    return ids.flatMap((id) => this.#around.agent(id) ?? [])
  }

  /** @throws RuntimeError `AGENT_NOT_FOUND` if the machine has no such agent, or no longer */
  agent(agentId: string | undefined): Agent {
    const found = this.children().find(({ id }) => id === agentId)
    if (found !== undefined) return found
    const what = agentId === undefined ? 'it takes events, and no commands of agents' : `it has no agent "${agentId}"`
    throw new RuntimeError('AGENT_NOT_FOUND', `"${this.id}" is a machine: ${what}.`)
  }

  /** Sends the machine an event; resolves once the event is stored and was taken. Rejects as `send` of a machine does. */
  async event(event: object, requestId: string): Promise<void> {
    try {
      await this.#host.send(event, { requestId })
    } catch (thrown) {
      // One that has come to its end may have done so by this event.
      if (!hasCode(thrown, 'MACHINE_CLOSED') || !(await this.#around.wasAsked(requestId))) throw thrown
    }
  }

  /** Resolves with the settled state. Rejects with the reason why the machine was closed here, unless it has ended by itself. */
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

  /** Checks the names of agents, by which the engine finds the machine of an agent. */
  #checkNames(agents: readonly Agent[]): void {
    const other = agents.find(({ id, definition }) => machineNamedIn(id, definition) !== this.id)
    if (other === undefined) return
    const what = `gives agent "${other.id}" an id of its own, by which an engine cannot tell whose it is: leave it out`
    throw new RuntimeError('MACHINE_REFUSED', `Machine "${this.id}" ${what}.`)
  }

  /** Time at which the machine or one of its agents wants to be woken; `null`: never. */
  get due(): number | null {
    const [first] = this.#host.view.timers
    const all = [first?.due ?? null, ...this.children().map(dueOf)].filter((time) => time !== null)
    return all.length === 0 ? null : Math.min(...all)
  }

  /** Does nothing, because the machine hears of its agents by itself. */
  subscribe(): () => void {
    return () => {}
  }

  resume(): void {}

  /** Ends the machine's work as a crash would: it continues from its log. */
  async abort(): Promise<void> {
    await this.#host.close()
  }

  /** Releases the machine, unless other code in this process has it. Never rejects. */
  async letGo(): Promise<void> {
    if (!this.#host.isAttended) await this.#host.close()
  }
}

import { isAgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { SharedLessons } from '../../../src/conversation/brakes/lessons/sharedLessons.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import { Agent } from '../../../src/runtime/agents/agent.ts'
import type { Branch, GroupEntry, GroupHost, GroupOptions } from './branch.ts'

/** The agents of one group, from their spawn until they are closed. */
export class GroupAgents {
  readonly #host: GroupHost
  readonly #signal: AbortSignal | undefined
  readonly #deps: unknown
  readonly #open = new Set<Agent>()
  readonly #lessons = new SharedLessons()
  readonly #aborted = Promise.withResolvers<null>()

  /** Aborting `signal` aborts all open agents in the same tick. */
  constructor(host: GroupHost, { signal, deps }: Pick<GroupOptions, 'signal' | 'deps'>) {
    this.#host = host
    this.#signal = signal
    this.#deps = deps
    if (this.isAborted) this.#abortAll()
    else signal?.addEventListener('abort', this.#abortAll, { once: true })
  }

  get isAborted(): boolean {
    return this.#signal?.aborted === true
  }

  /** Spawns an agent. Throws as `spawn` does. */
  async open(entry: GroupEntry): Promise<Agent> {
    const agent = await this.#spawn(entry)
    this.#open.add(agent)
    agent.joinGroup(this.#lessons)
    return agent
  }

  #spawn(entry: GroupEntry): Promise<Agent> {
    const options = isAgentDefinition(entry) ? { definition: entry } : entry
    // A restart would go unnoticed: the branch is the run of the first life.
    return this.#host instanceof Agent
      ? this.#host.spawn({ ...options, restart: 'never' }, { deps: this.#deps })
      : this.#host.spawn(options.definition, { deps: this.#deps })
  }

  /** Spawns all agents in this order, or throws the error of the first failure. */
  async openAll(entries: readonly GroupEntry[]): Promise<Agent[]> {
    const opened = await Promise.allSettled(entries.map((entry) => this.open(entry)))
    return opened.map((one) => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    })
  }

  /** Runs an agent once. Throws as `prompt` does. */
  async ask(agent: Agent, prompt: Content, limits?: Limits): Promise<Branch> {
    const { id: agentId, definition } = agent
    return { agentId, definition, result: await agent.prompt(prompt, { limits }).result }
  }

  /** Resolves with the result of `work`, or `null` as soon as the group is aborted. Rejects as `work` does. */
  unlessAborted<T>(work: Promise<T>): Promise<T | null> {
    return Promise.race([work, this.#aborted.promise])
  }

  /** Aborts the run of an agent, if it still has one. */
  abort(agent: Agent): void {
    try {
      agent.abort()
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError) || thrown.code !== 'AGENT_STOPPED') throw thrown
    }
  }

  /** Aborts the runs of all open agents except this one. */
  abortOthers(agent?: Agent): void {
    for (const other of this.#open) if (other !== agent) this.abort(other)
  }

  /** Leaves the agents of these branches to the caller. */
  keep(branches: readonly Branch[]): void {
    const kept = new Set(branches.map(({ agentId }) => agentId))
    for (const agent of this.#open) if (kept.has(agent.id)) this.#open.delete(agent)
  }

  /** Closes an agent. A failure to write its log has already shown in the result of its run. Idempotent, never rejects. */
  async close(agent: Agent): Promise<void> {
    this.#open.delete(agent)
    await agent.close().catch(() => {})
  }

  /** Closes all open agents. Never rejects. */
  async closeAll(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#abortAll)
    this.#lessons.end()
    await Promise.all([...this.#open].map((agent) => this.close(agent)))
  }

  readonly #abortAll = (): void => {
    this.abortOthers()
    this.#aborted.resolve(null)
  }
}

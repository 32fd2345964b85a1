import type { AgentDefinition } from '../actors/define/agentDefinition.ts'
import type { Agent } from './agents/agent.ts'
import type { DepsFor, TheirDeps } from './agents/agentTypes.ts'
import type { EventsOf } from '../actors/define/typedEvents.ts'
import type { GivenDeps, OpenOptions, ResumeOptions, RootSpawnOptions } from './children/spawnOptions.ts'
import type { ClosingOptions, DetachOptions } from './letGo.ts'
import type { ListOptions } from './registry.ts'

/** Runtime that spawns agents in this process and owns what they share. */
export interface AgentRuntime {
  /**
   * Starts an agent from this definition, with its own log.
   *
   * @throws RuntimeError `RUNTIME_CLOSED`, `INVALID_ID`, `AGENT_EXISTS` (it is running or already has a log), `AGENT_ELSEWHERE`,
   * `STORE_LOCKED`, `STORE_OPEN_FAILED`, `INVALID_OPTION` (also for a history that no model would take, naming the message)
   *
   * @example
   * ```ts
   * const agent = await runtime.spawn(coder, { id: 'coder-1' })
   * const run = agent.prompt('Fix the failing test')
   * for await (const event of run) if (event.type === 'reply.delta') process.stdout.write(event.text)
   * ```
   */
  spawn<Output, Deps, Calls, State>(
    definition: AgentDefinition<Output, Deps, Calls, State>,
    options: RootSpawnOptions & TheirDeps<Deps>,
  ): Promise<Agent<Output, DepsFor<Deps> | undefined, EventsOf<Calls>, State>>
  spawn<Output, Deps, Calls, State>(
    definition: AgentDefinition<Output, Deps, Calls, State>,
    options?: RootSpawnOptions & GivenDeps<DepsFor<Deps> | undefined>,
  ): Promise<Agent<Output, DepsFor<Deps>, EventsOf<Calls>, State>>
  /**
   * Resumes an agent from its log after its process ended without `stop`: the conversation, queues, approvals and pauses are as they
   * were. A run that waits for approvals keeps waiting; an interrupted one continues as a new run: the model is asked again, and
   * calls in flight are run again or answered according to their tools' `effects`. With `continue: false` that run, and queued
   * prompts, wait for `agent.resume()`. Resolves once waiting calls can be decided, including those of sub-agents.
   *
   * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_STOPPED`, `AGENT_EXISTS` (it is already running), `INVALID_DEFINITION` (its
   * definition has another name), `AGENT_ELSEWHERE` (another process has it), `STORE_LOCKED` (where the store does not know who),
   * `LOG_CORRUPT`, `LOG_VERSION`
   *
   * @example
   * ```ts
   * await agent.close() // or the process ended
   * const resumed = await runtime.resume(agent.id, coder)
   * console.log(resumed.state, resumed.conversation.steps().length)
   * ```
   */
  resume<Output, Deps, Calls, State>(
    agentId: string,
    definition: AgentDefinition<Output, Deps, Calls, State>,
    options: ResumeOptions & TheirDeps<Deps>,
  ): Promise<Agent<Output, DepsFor<Deps> | undefined, EventsOf<Calls>, State>>
  resume<Output, Deps, Calls, State>(
    agentId: string,
    definition: AgentDefinition<Output, Deps, Calls, State>,
    options?: ResumeOptions & GivenDeps<DepsFor<Deps> | undefined>,
  ): Promise<Agent<Output, DepsFor<Deps>, EventsOf<Calls>, State>>
  /**
   * Returns the agent with this id, whatever its state: the one running here, else the one in the store (resumed as by `resume`),
   * else a new one (as by `spawn`). Concurrent calls for the same id get the same agent; an agent that is being closed is awaited
   * first. `continue` applies to a resumed agent, `history` to a new one. An existing agent must have the same `metadata`.
   *
   * @throws RuntimeError `AGENT_EXISTS` (with other metadata), `INVALID_DEFINITION` (its definition has another name),
   * `INVALID_ID`, `AGENT_STOPPED` (for good), `RUNTIME_CLOSED`, `AGENT_ELSEWHERE` (another process has it: `data` says where),
   * `STORE_LOCKED` (where the store does not know who), `STORE_OPEN_FAILED`, `LOG_CORRUPT`, `LOG_VERSION`
   *
   * @example
   * ```ts
   * // In a web server: one agent for all requests of a conversation.
   * const agent = await runtime.open('user-7', support)
   * const { text } = await agent.prompt('My order is late.').result
   * ```
   */
  open<Output, Deps, Calls, State>(
    agentId: string,
    definition: AgentDefinition<Output, Deps, Calls, State>,
    options: OpenOptions & TheirDeps<Deps>,
  ): Promise<Agent<Output, DepsFor<Deps> | undefined, EventsOf<Calls>, State>>
  open<Output, Deps, Calls, State>(
    agentId: string,
    definition: AgentDefinition<Output, Deps, Calls, State>,
    options?: OpenOptions & GivenDeps<DepsFor<Deps> | undefined>,
  ): Promise<Agent<Output, DepsFor<Deps>, EventsOf<Calls>, State>>
  /**
   * Releases an agent in this process, with its sub-agents, even in the middle of work, so that another process can continue it.
   * Effects are aborted, and records made so far are written without mentioning the release. Its runs and streams end here with
   * `AGENT_DETACHED`. A process that resumes the agent continues as after a crash. Its detached sub-agents are agents of their own, and
   * stay. With `drainMs`, calls and replies in progress may still end within that time, in milliseconds, and no other begins.
   *
   * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_INCOGNITO`, `INVALID_OPTION` for a sub-agent, `STORE_APPEND_FAILED`
   *
   * @example
   * ```ts no-run
   * await runtime.detach('coder-1')
   * // In another process, on the same store:
   * await runtime.resume('coder-1', coder)
   * ```
   */
  detach(agentId: string, options?: DetachOptions): Promise<void>
  /**
   * Returns the agents without a parent that have not ended, oldest first: all, those with certain metadata, or one page.
   * Includes unloaded agents but no incognito ones.
   *
   * @throws RuntimeError `INVALID_OPTION`: `after` is not the id of one of them, or `limit` is not a positive integer.
   */
  agents(options?: ListOptions): Agent[]
  /** Returns the agent with this id, which may be a sub-agent, if it has not ended. */
  agent(id: string): Agent | undefined
  /** Calls `listener` with every agent that starts, including sub-agents and incognito ones. Returns a function that unsubscribes it. */
  onAgent(listener: (agent: Agent) => void): () => void
  /**
   * Ends every agent so that it can be resumed, writes their logs and closes the store. A current run is aborted, and its log says so. With
   * `detach`, every agent is released as by `detach`, so that it continues where it is resumed. Idempotent; the first call decides.
   *
   * @throws RuntimeError `INVALID_OPTION`
   */
  close(options?: ClosingOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { SubAgentEntry, SubAgentOptions } from '../../actors/define/subAgents.ts'
import type { GivenDeps, SpawnOptions } from '../children/spawnOptions.ts'

/** Type of the dependencies that may be given to agents of a definition that needs `Deps`; `unknown` where the definition is not known. */
export type DepsFor<Deps> = [Deps] extends [never] ? unknown : Deps

/** Dependencies given to the agent for all its runs, so that prompts need give none. */
export interface TheirDeps<Deps> {
  readonly deps: DepsFor<Deps> & ({} | null)
}

/** Type of a definition's structured answers: the type of its `output` schema, else `undefined`. */
export type OutputOf<D extends AgentDefinition> = D extends AgentDefinition<infer Output> ? Output : never

/** Type of the state of a definition's agents: the type of its `state`, else `undefined`. */
export type StateOf<D extends AgentDefinition> =
  D extends AgentDefinition<unknown, never, unknown, infer State> ? State : never

/** Type of the dependencies that agents of a definition need from the application. */
export type DepsOf<D extends AgentDefinition> = D extends AgentDefinition<infer _, infer Deps> ? Deps : never

/** A sub-agent and its options, as far as its definition is known. A child has its parent's dependencies, so its prompts need give none. */
export type Entry<Output, Deps, Calls, State> =
  | AgentDefinition<Output, Deps, Calls, State>
  | (SubAgentOptions & { readonly definition: AgentDefinition<Output, Deps, Calls, State> })

/** Options for the execution of a command. */
export interface DispatchOptions {
  /** Identifies its run or message in the log; by default one is created. */
  readonly requestId?: string
  /** Dependencies for the run that the command starts. */
  readonly deps?: unknown
}

export interface ListenOptions {
  /** True if events of sub-agents are delivered too, however deep. Default `false`. */
  readonly descendants?: boolean
}

/** Arguments for spawning a child of any definition. */
export type SpawnArguments = [entry: SubAgentEntry, options: SpawnOptions & GivenDeps<unknown>]

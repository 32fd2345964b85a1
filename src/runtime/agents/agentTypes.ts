import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { SubAgentEntry, SubAgentOptions } from '../../actors/subAgents.ts'
import type { GivenDeps, SpawnOptions } from '../children/spawnOptions.ts'

/** What may be given to agents of a definition that need this; anything where it is not known which definition it is. */
export type DepsFor<Deps> = [Deps] extends [never] ? unknown : Deps

/** What the agent is given for all its runs, so that prompts need give nothing. */
export interface TheirDeps<Deps> {
  readonly deps: DepsFor<Deps> & ({} | null)
}

/** What the answers of a definition are as data: that of its `output` schema, else `undefined`. */
export type OutputOf<D extends AgentDefinition> = D extends AgentDefinition<infer Output> ? Output : never

/** What agents of a definition need of the application. */
export type DepsOf<D extends AgentDefinition> = D extends AgentDefinition<infer _, infer Deps> ? Deps : never

/** A sub-agent and how it is called, as far as its definition is known. A child has what its parent has, so its prompts need give nothing. */
export type Entry<Output, Deps, Calls> =
  | AgentDefinition<Output, Deps, Calls>
  | (SubAgentOptions & { readonly definition: AgentDefinition<Output, Deps, Calls> })

/** How a command is executed. */
export interface DispatchOptions {
  /** Identifies its run or message in the log; by default one is created. */
  readonly requestId?: string
  /** What the run that it starts is given. */
  readonly deps?: unknown
}

export interface ListenOptions {
  /** Also deliver events of sub-agents, however deep. Default `false`. */
  readonly descendants?: boolean
}

/** What a child is spawned with, of whatever definition. */
export type SpawnArguments = [entry: SubAgentEntry, options: SpawnOptions & GivenDeps<unknown>]

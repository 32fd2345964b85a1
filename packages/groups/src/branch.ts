import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { SubAgentOptions } from '../../../src/actors/define/subAgents.ts'
import { addUsage, noUsage, type Usage } from '../../../src/protocol/messages.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { OutputOf } from '../../../src/runtime/agents/agentTypes.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'

/** Host of a group: an agent, as whose children its agents are spawned, or a runtime, as whose roots. */
export type GroupHost = AgentRuntime | Agent

/**
 * An agent of a group. The same definition may appear twice. Options are allowed only below an agent; a branch that crashes has
 * failed and is not restarted, so there is no `restart`.
 */
export type GroupEntry = AgentDefinition | Pick<SubAgentOptions, 'definition' | 'context' | 'stallMs'>

export interface GroupOptions<Deps = unknown> {
  /** Limits for each agent's run, overriding those of its definition. */
  readonly limits?: Limits | undefined
  /** Dependencies of every agent in the group. In a group below an agent, the agents have that agent's own by default. */
  readonly deps?: Deps | undefined
  /** Aborts every agent of the group. The result holds the work done by then. */
  readonly signal?: AbortSignal | undefined
  /**
   * Keeps the agent whose answer was chosen (without a judge, all that ended well) alive, for the caller to use and
   * close. Default `false`: every agent is closed once its run is over, and its session can be resumed.
   */
  readonly keep?: boolean | undefined
}

/** Result of one agent of a group. */
export interface Branch<out Output = unknown> {
  /** Id of the agent, and of its session. */
  readonly agentId: string
  /** Name of the agent's definition. */
  readonly definition: string
  readonly result: RunResult<Output>
}

/** Usage of several runs together. */
export interface GroupSpent {
  readonly usage: Usage
  /** Cost in US dollars. Agents without prices count as 0. */
  readonly costUsd: number
}

/** The answers of a group's agents, as data. */
export type OutputIn<Entry> = Entry extends { readonly definition: infer D extends AgentDefinition }
  ? OutputOf<D>
  : Entry extends AgentDefinition
    ? OutputOf<Entry>
    : never

/** True if the branch's answer can be used. */
export const endedWell = ({ result }: Pick<Branch, 'result'>): boolean =>
  result.stopReason === 'stop' && result.error === undefined

/** Returns the sum over runs. Pure. */
export const spentBy = (runs: readonly GroupSpent[]): GroupSpent => ({
  usage: runs.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
  costUsd: runs.reduce((sum, { costUsd }) => sum + costUsd, 0),
})

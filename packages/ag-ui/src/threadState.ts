import type { JsonPatch } from '@ag-ui/core'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import type { Usage } from '../../../src/protocol/messages.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'

/** AG-UI state of an agent, as front ends see it. */
export interface ThreadState {
  readonly agentId: string
  /** Name of the chart's active state. */
  readonly state: string
  /** Id of the newest node, such as `n12`; `null` before the first message. */
  readonly head: string | null
  /** Tokens used over the agent's life, sub-agents included. */
  readonly usage: Usage
  readonly pendingApprovals: readonly {
    readonly interruptId: string
    readonly agentId: string
    readonly callId: string
    readonly name: string
  }[]
  /** Sub-agents that are alive, oldest first. */
  readonly children: readonly { readonly id: string; readonly definition: string; readonly state: string }[]
}

export function threadStateOf(agent: DrivenAgent): ThreadState {
  const { head } = agent.conversation
  return {
    agentId: agent.id,
    state: agent.state,
    head: head === null ? null : formatNodeId(head),
    usage: agent.spent.usage,
    pendingApprovals: agent
      .approvals()
      .map(({ key, agentId, callId, name }) => ({ interruptId: key, agentId, callId, name })),
    children: agent.tree().children.map(({ id, definition, state }) => ({ id, definition, state })),
  }
}

/** The change from one state to the next, entry by entry; empty when there is none. */
export const stateChange = (before: ThreadState, after: ThreadState): JsonPatch =>
  (Object.keys(after) as (keyof ThreadState)[])
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => ({ op: 'replace', path: `/${key}`, value: after[key] }))

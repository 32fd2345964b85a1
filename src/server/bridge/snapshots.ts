import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { describePolicies } from '../../actors/policies/describePolicies.ts'
import type { PolicyInfo } from '../../protocol/braking.ts'
import type { Pending } from '../../protocol/pending.ts'
import { pendingIn } from '../../protocol/pendingIn.ts'
import type { AgentSummary } from '../../protocol/frames.ts'
import type { PauseReason } from '../../protocol/records.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { AgentTree, PendingApproval } from '../../runtime/agents/agentTree.ts'
import type { LoadedSession } from '../../sessions/loadSession.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import type { TurnUse } from '../../protocol/turns.ts'
import { outwardReason } from './outwardError.ts'

interface AgentSnapshot extends AgentSummary {
  readonly tree: AgentTree
  readonly asked: readonly Pending[]
  readonly approvals: readonly PendingApproval[]
  readonly pause: PauseReason | null
  readonly policies?: readonly PolicyInfo[]
  readonly sources?: readonly SourceInfo[]
  readonly use?: TurnUse
}

/** An agent as a list shows it. */
export const summaryOf = (agent: Agent): AgentSummary => ({
  agentId: agent.id,
  definition: agent.definition,
  ...(agent.active === agent.definition ? {} : { active: agent.active }),
  path: agent.path,
  state: agent.state,
  seq: agent.lastSeq,
  head: agent.conversation.head,
  pendingApprovals: agent.approvals().map(({ key }) => key),
  pending: agent.pending().map(({ key }) => key),
  spent: agent.spent,
  ...(agent.metadata === undefined ? {} : { metadata: agent.metadata }),
})

/** How an agent is now. */
export const snapshotOf = (agent: Agent): AgentSnapshot => ({
  ...summaryOf(agent),
  tree: agent.tree(),
  asked: agent.pending(),
  approvals: agent.approvals(),
  pause: agent.pause === null ? null : outwardReason(agent.pause),
  policies: agent.policies,
  ...(agent.sources.length === 0 ? {} : { sources: agent.sources }),
  ...(agent.inUse === null ? {} : { use: agent.inUse }),
})

/** How an agent that does not run was left, as its log tells; with the policies of the definition that a command would wake it with. */
export function storedSnapshot(session: LoadedSession, wakesWith: AgentDefinition | undefined): AgentSnapshot {
  const { id, definition, path, metadata, conversation, runs, usage, costUsd, isStopped } = session
  const state = isStopped ? 'stopped' : 'closed'
  const asked = heldCalls(session)
  const approvals = asked.flatMap(({ kind, ...call }) => (kind === 'approval' ? [call] : []))
  return {
    agentId: id,
    definition,
    path,
    state,
    seq: session.records.at(-1)?.seq ?? 0,
    head: conversation.head,
    pendingApprovals: approvals.map(({ key }) => key),
    pending: asked.map(({ key }) => key),
    spent: { usage, costUsd, turns: runs.reduce((sum, run) => sum + run.turns.length, 0) },
    ...(metadata === undefined ? {} : { metadata }),
    tree: { id, definition, state, children: [] },
    asked,
    approvals,
    pause: null,
    ...(wakesWith === undefined ? {} : { policies: describePolicies(wakesWith) }),
  }
}

/** What waits for people, and will again once the agent runs. */
function heldCalls({ id, runs, records, isStopped }: LoadedSession): Pending[] {
  const calls = isStopped ? [] : runs.flatMap(({ turns }) => turns).flatMap(({ toolCalls }) => toolCalls)
  const held = new Set(calls.filter(({ status }) => status === 'held').map(({ callId }) => callId))
  const asked = new Map<string, Pending>()
  for (const record of records) {
    const pending = pendingIn(id, record)
    // What was asked last is what it waits for.
    if (pending !== undefined && held.has(pending.callId)) asked.set(pending.callId, pending)
  }
  return [...asked.values()]
}

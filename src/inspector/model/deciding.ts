import type { PendingOf } from '../../protocol/pending.ts'
import type { Inspector } from './inspector.ts'
import { standsOf } from './overview.ts'
import { ofSameTool } from './pendingWords.ts'
import { firstOf } from './settledCalls.ts'

/** Of the agent that is shown, the call that a key decides. */
export const firstApproval = (inspector: Inspector): PendingOf<'approval'> | undefined =>
  firstOf(inspector.agent.value?.state.value.pending ?? [])

/** Decides calls of the agent that is shown; nothing where nothing can be decided. */
export function decideAll(inspector: Inspector, keys: readonly string[], decision: 'approve' | 'deny'): void {
  const view = inspector.agent.value
  if (view === null || inspector.controls.value.decide !== null) return
  const agent = inspector.attached.value.connection.client.agent(view.agentId)
  for (const key of keys) void inspector.attempt(() => agent.decide(key, decision))
}

/** Decides the oldest call that waits, or approves all of its tool: those that a person has had the time to see, and typed nothing for. */
export function decideFirst(inspector: Inspector, what: 'approve' | 'deny' | 'approveTool'): void {
  const { deciding } = inspector
  const first = firstApproval(inspector)
  if (first === undefined || !deciding.may(first.key)) return
  const pending = inspector.agent.value?.state.value.pending ?? []
  const keys = what === 'approveTool' ? ofSameTool(pending, first.name) : [first.key]
  decideAll(
    inspector,
    keys.filter((key) => deciding.may(key)),
    what === 'deny' ? 'deny' : 'approve',
  )
}

/** Keys of everything that waits for people at agents that run. */
export function waitingKeys(inspector: Inspector): readonly string[] {
  const { agents } = inspector.attached.value.directory
  return [...agents.value.values()].flatMap((agent) => standsOf(agent).keys)
}

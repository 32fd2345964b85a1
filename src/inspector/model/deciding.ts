import type { PendingOf } from '../../protocol/pending.ts'
import type { Inspector } from './inspector.ts'
import { standsOf } from './overview.ts'
import { ofSameTool } from './pendingWords.ts'

/** The call of the agent that is shown that a key decides: the oldest that waits for approval. */
export function firstApproval(inspector: Inspector): PendingOf<'approval'> | undefined {
  const pending = inspector.agent.value?.state.value.pending ?? []
  return pending.find((one): one is PendingOf<'approval'> => one.kind === 'approval')
}

/** Decides calls of the agent that is shown; nothing where nothing can be decided. */
export function decideAll(inspector: Inspector, keys: readonly string[], decision: 'approve' | 'deny'): void {
  const view = inspector.agent.value
  if (view === null || inspector.controls.value.decide !== null) return
  const agent = inspector.attached.value.connection.client.agent(view.agentId)
  for (const key of keys) void inspector.attempt(() => agent.decide(key, decision))
}

/** Decides the oldest call that waits, or approves all of its tool that wait now. `false`: none waits. */
export function decideFirst(inspector: Inspector, what: 'approve' | 'deny' | 'approveTool'): boolean {
  const first = firstApproval(inspector)
  if (first === undefined) return false
  const pending = inspector.agent.value?.state.value.pending ?? []
  if (what === 'approveTool') decideAll(inspector, ofSameTool(pending, first.name), 'approve')
  else decideAll(inspector, [first.key], what)
  return true
}

/** Keys of everything that waits for people at agents that run. */
export function waitingKeys(inspector: Inspector): readonly string[] {
  const { agents } = inspector.attached.value.directory
  return [...agents.value.values()].flatMap((agent) => standsOf(agent).keys)
}

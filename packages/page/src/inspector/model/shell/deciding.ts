import type { Inspector } from './inspector.ts'
import { standsOf } from '../sessions/stands.ts'
import { isToldWhole, ofSameTool } from '../calls/pendingWords.ts'
import { targetOf } from '../calls/settledCalls.ts'

/** Returns true if any call of the agent that is shown waits for approval. */
export const hasApprovals = (inspector: Inspector): boolean =>
  inspector.agent.value?.state.value.pending.some(({ kind }) => kind === 'approval') === true

/** Decides calls of the agent that is shown; does nothing if no call can be decided. */
export function decideAll(inspector: Inspector, keys: readonly string[], decision: 'approve' | 'deny'): void {
  const view = inspector.agent.value
  if (view === null || inspector.controls.value.approve !== null) return
  const agent = inspector.attached.value.connection.client.agent(view.agentId)
  for (const key of keys) void inspector.attempt(() => agent.decide(key, decision))
}

/**
 * Decides the open call, or the call `focused`, which has the focus. `approveTool` approves all calls of its tool.
 * Calls that a person has not had time to see, or has typed input for, are left out.
 */
export function decideShown(inspector: Inspector, what: 'approve' | 'deny' | 'approveTool', focused?: string): void {
  const { deciding } = inspector
  const pending = inspector.agent.value?.state.value.pending ?? []
  const target = targetOf(pending, focused ?? deciding.opened.value)
  if (target === undefined || deciding.isFolded.value || !deciding.may(target.key)) return
  const keys = what === 'approveTool' ? ofSameTool(pending, target.name) : [target.key]
  // One is approved where all of it is shown: in its line, or in its card.
  const isShown = (key: string): boolean =>
    what === 'deny' ||
    key === (focused ?? deciding.opened.value) ||
    pending.length === 1 ||
    pending.some((one) => one.key === key && isToldWhole(one))
  decideAll(
    inspector,
    keys.filter((key) => deciding.may(key) && isShown(key)),
    what === 'deny' ? 'deny' : 'approve',
  )
}

/** Returns the keys of everything that waits for people at running agents. */
export function waitingKeys(inspector: Inspector): readonly string[] {
  const { agents } = inspector.attached.value.directory
  return [...agents.value.values()].flatMap((agent) => standsOf(agent).keys)
}

import type { UndoOutput } from '../../src/machines/drainTypes.ts'
import type { AgentScript } from './agentScript.ts'

/** The drain of reverts goes back to the first message; `calls`: results that are undone. */
export function goBack({ driver, context }: AgentScript, ...calls: number[]): void {
  const child = driver.child('drainReverts')
  const abandoned = Array.from({ length: context.lastNodeId - 1 }, (_, index) => index + 2)
  const plan = { calls: calls.map((call) => ({ call, what: `file ${call}` })), kept: [] }
  const tag = { kind: 'lesson', text: 'no', turnIndex: 0, abandoned, evidence: { calls: [], changed: [] } } as const
  const { id } = child.input.requests[0]!
  const outcome = { id, applied: true, category: 'failure', requested: 'n1', target: 1, tag, undo: plan } as const
  driver.finish(child, { key: child.input.key, outcomes: [outcome], contextTokens: 0, at: driver.now })
}

/** A tool has undone its call, or has not. */
export function undo(
  { driver }: AgentScript,
  step: Partial<UndoOutput['step']> = {},
  rest: Partial<UndoOutput> = {},
): void {
  const child = driver.child('undoCall')
  const { key, call } = child.input
  driver.finish(child, { key, step: { call: call.call, undone: true, ...step }, at: driver.now, ...rest })
}

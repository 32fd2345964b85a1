import type { InnerAgentCall } from '../protocol/parts/inner/innerDecisions.ts'
import type { Spent } from '../protocol/records.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { AgentContext, EventOfType } from './agentTypes.ts'
import { aliveChildren, shareFor } from './allowances.ts'
import { freeSlot, leave } from './children.ts'
import { earlierChild, isTaken } from './continuing.ts'
import type { Draft } from './draft.ts'

/** Place for a sub-agent that a running call calls. `wait`: none is free before another ends; `refused`: the reason why none will be. */
export type InnerPlace =
  | { readonly allowance: Limits; readonly earlier?: string }
  | { readonly refused: string }
  | 'wait'

/** Returns the place for a sub-agent that a running call calls, with `waiting` more behind it. Pure. */
export function innerPlace(context: AgentContext, call: InnerAgentCall, waiting: number): InnerPlace {
  const { attached, calls, policy } = context
  const earlier = earlierChild(context, call)
  if (earlier !== undefined && isTaken(context, undefined, earlier))
    return { refused: `${earlier} is at work on another call` }
  const willEnd =
    attached.some(({ allowance }) => allowance !== undefined) ||
    calls.some(({ status, childId }) => status === 'running' && childId !== undefined)
  const free = policy.maxChildren - aliveChildren(context)
  if (free <= 0) return willEnd ? 'wait' : { refused: `${policy.maxChildren} are alive, the most allowed` }
  // Some of those that wait may get nothing.
  for (let behind = Math.min(waiting, free - 1); behind >= 0; behind--) {
    const allowance = shareFor(context, behind)
    if (allowance !== null) return { allowance, ...(earlier === undefined ? {} : { earlier }) }
  }
  return willEnd ? 'wait' : { refused: 'the budget of this run is used up' }
}

/** Starts a sub-agent that a running call calls, or continues the one that carried out the call before a crash. */
export function callAgent(draft: Draft, { key, call, waiting }: EventOfType<'call.agent'>): void {
  const { agentId, attached, calls, children } = draft.context
  const outer = calls.find((one) => one.key === key && (one.status === 'running' || one.status === 'asking'))
  if (outer === undefined || attached.some((one) => one.key === call.key)) return
  const place = innerPlace(draft.context, call, waiting)
  if (place === 'wait' || 'refused' in place) return
  const { n, name, input, callId, logged, print, begun, rule } = call
  const made = draft.context.parts.inner?.[outer.callId]
  const known = made?.starts.find((start) => start.n === n)?.childId
  const childId = known ?? place.earlier ?? `${agentId}.${children + 1}`
  if (known === undefined) {
    // It comes first: the id is taken once it is in the log.
    if (place.earlier === undefined) draft.record({ type: 'child.spawned', ...draft.at, childId, definition: name })
    draft.record({
      type: 'inner.start',
      ...draft.at,
      callId: outer.callId,
      key: call.key,
      n,
      name,
      input: logged,
      print,
      begun,
      ...(rule === undefined ? {} : { rule }),
      ...(draft.context.policy.irreversible.includes(name) ? { irreversible: true } : {}),
      childId,
    })
  }
  const slot = freeSlot(draft.context.attached)
  const { allowance } = place
  draft.set({ attached: [...draft.context.attached, { childId, slot, key: call.key, allowance }] })
  draft.children.push({
    type: 'start',
    src: 'subAgent',
    id: slot,
    input: { agentId, ...draft.at, key: call.key, callId, name, input, childId, allowance, isInner: true },
  })
}

/** Aborts a sub-agent that a call had called, unless the call runs again. */
export function leaveAgent(draft: Draft, { outer, key }: EventOfType<'leave.agent'>): void {
  if (draft.context.calls.some((call) => call.key === outer && call.status !== 'settled')) return
  const child = draft.context.attached.find((one) => one.key === key)
  if (child !== undefined) draft.children.push({ type: 'tell', id: child.slot, event: { type: 'abort' } })
}

/** Removes the sub-agents of running calls after an abort, and records their usage. */
export function endInnerAgents(draft: Draft, used: { readonly [key: string]: Spent }): void {
  for (const child of draft.context.attached.filter(({ allowance }) => allowance !== undefined)) {
    const spent = used[child.key]
    leave(draft, child, spent === undefined ? {} : { spent })
  }
}

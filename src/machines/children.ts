import type { AttachedChild, EventOfType } from './agentTypes.ts'
import type { CallOutput } from './effectTypes.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import { noUsage } from '../protocol/messages.ts'
import type { Draft } from './draft.ts'

const nothing = { usage: noUsage, costUsd: 0, turns: 0 } as const

/** Returns the first free child id. Ids are reused by position, like those of calls. */
export function freeSlot(taken: readonly { readonly slot: string }[]): string {
  let number = 0
  while (taken.some(({ slot }) => slot === `child.${number}`)) number += 1
  return `child.${number}`
}

/** Starts a child that works alongside the agent until it is stopped. */
export function attachChild(draft: Draft, { childId, name, incognito }: EventOfType<'spawn'>): void {
  const { agentId, attached } = draft.context
  const slot = freeSlot(attached)
  const key = `${agentId}/child/${childId}`
  draft.set({ attached: [...attached, { childId, slot, key }] })
  const spawned = { type: 'child.spawned', ...draft.at, childId, definition: name } as const
  draft.record(incognito === undefined ? spawned : { ...spawned, incognito })
  const input = { agentId, ...draft.at, key, callId: null, name, input: null, childId, allowance: {} }
  draft.children.push({ type: 'start', src: 'subAgent', id: slot, input })
}

/** Sends something to every child spawned by code. */
export function tellChildren({ context, children }: Draft, type: 'abort' | 'stop' | 'close'): void {
  for (const { slot } of context.attached) children.push({ type: 'tell', id: slot, event: { type } })
}

/** Ends a sub-agent that has nothing more to do, after its own children. */
export function endTask(draft: Draft): void {
  if (draft.context.task === null) return
  draft.set({ isTaskOver: true })
  tellChildren(draft, 'close')
}

/** Removes a child that has ended. */
export function detachChild(draft: Draft, output: CallOutput): void {
  const child = draft.context.attached.find(({ key }) => key === output?.key)
  if (child !== undefined) leave(draft, child, output)
}

/** Removes a child whose supervisor failed. */
export function loseChild(draft: Draft, slot: string, error: ErrorInfo): void {
  const child = draft.context.attached.find((attached) => attached.slot === slot)
  if (child !== undefined) leave(draft, child, { error })
}

export function leave(
  draft: Draft,
  child: AttachedChild,
  { error, spent = nothing }: Pick<CallOutput, 'error' | 'spent'>,
): void {
  draft.set({ attached: draft.context.attached.filter((other) => other !== child) })
  draft.record({
    type: 'child.ended',
    ...draft.at,
    childId: child.childId,
    ...(child.allowance === undefined || draft.context.run === null ? {} : { inRun: true }),
    ...(error === undefined ? {} : { error }),
    spent,
  })
  draft.children.push({ type: 'stop', id: child.slot })
}

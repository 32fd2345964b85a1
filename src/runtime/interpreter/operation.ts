import type { MakeChange } from '../../machines/change.ts'

/** The arguments of guards and mappers. */
export interface Subject {
  readonly context: object
  readonly event: ChartEvent
}

export interface ChartEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** One step of a transition. */
export type Operation =
  | { readonly type: 'change'; readonly change: MakeChange<object, ChartEvent> }
  | { readonly type: 'act'; readonly name: string; readonly params?: unknown }
  /** Starts an `invoke`; `input` is a value or a function that returns it. */
  | { readonly type: 'start'; readonly src: string; readonly id: string; readonly input: unknown }
  | { readonly type: 'stop'; readonly id: string }

/** XState's internal form of an action. */
interface MadeAction {
  readonly type?: string
  readonly params?: unknown
  readonly change?: MakeChange<object, ChartEvent>
}

/** Converts a chart's action; `undefined` if the planner does not support it. */
export function operationOf(action: unknown): Operation | undefined {
  if (typeof action === 'string') return { type: 'act', name: action }
  const { type, params, change } = action as MadeAction
  if (change !== undefined) return { type: 'change', change }
  const isNamed = typeof action === 'object' && type !== undefined && !type.startsWith('xstate.')
  return isNamed && typeof params !== 'function' ? { type: 'act', name: type, params } : undefined
}

import type { MakeChange } from '../../machines/change.ts'

/** What guards and mappers are asked about. */
export interface Subject {
  readonly context: object
  readonly event: ChartEvent
}

export interface ChartEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** One thing that a transition does. */
export type Operation =
  | { readonly type: 'change'; readonly change: MakeChange<object, ChartEvent> }
  | { readonly type: 'act'; readonly name: string; readonly params?: unknown }
  /** An `invoke` begins; `input` is a value, or a function that gives it. */
  | { readonly type: 'start'; readonly src: string; readonly id: string; readonly input: unknown }
  | { readonly type: 'stop'; readonly id: string }

/** An action as XState keeps it. */
interface MadeAction {
  readonly type?: string
  readonly params?: unknown
  readonly change?: MakeChange<object, ChartEvent>
}

/** What an action of a chart does; `undefined` when no plan is made for it. */
export function operationOf(action: unknown): Operation | undefined {
  if (typeof action === 'string') return { type: 'act', name: action }
  const { type, params, change } = action as MadeAction
  if (change !== undefined) return { type: 'change', change }
  const isNamed = typeof action === 'object' && type !== undefined && !type.startsWith('xstate.')
  return isNamed && typeof params !== 'function' ? { type: 'act', name: type, params } : undefined
}

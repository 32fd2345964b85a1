import type { AnyActorRef } from 'xstate'
import type { Draft } from '../../machines/draft.ts'

/** What guards, assignments and mappers are asked about. */
export interface Subject {
  readonly context: object
  readonly event: ChartEvent
}

export interface ChartEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** A value, or a function that gives it. */
type Mapper = unknown

/** One thing that a transition does. */
export type Operation =
  | { readonly type: 'advance'; readonly fill: (draft: Draft, event: never) => void }
  | { readonly type: 'assign'; readonly assignment: ((subject: Subject) => object) | Readonly<Record<string, Mapper>> }
  | { readonly type: 'collect'; readonly collect: (subject: object) => void }
  | { readonly type: 'act'; readonly name: string; readonly params?: unknown }
  | { readonly type: 'tell'; readonly id: string; readonly event: ChartEvent }
  | {
      readonly type: 'start'
      readonly src: string
      readonly id: string
      readonly input: Mapper
      readonly systemId?: string
    }
  | { readonly type: 'stop'; readonly id: string }

/** An action as XState keeps it. */
interface MadeAction {
  readonly type?: string
  readonly params?: unknown
  readonly fill?: Extract<Operation, { type: 'advance' }>['fill']
  readonly assignment?: Extract<Operation, { type: 'assign' }>['assignment']
  readonly collect?: Extract<Operation, { type: 'collect' }>['collect']
  readonly actorRef?: string | AnyActorRef
  readonly to?: unknown
  readonly event?: unknown
  readonly delay?: unknown
}

/** What an action of a chart does; `undefined` when no plan is made for it. */
export function operationOf(action: unknown): Operation | undefined {
  if (typeof action === 'string') return { type: 'act', name: action }
  const { type, params, fill, assignment, collect, actorRef, to, event, delay } = action as MadeAction
  if (fill !== undefined) return { type: 'advance', fill }
  switch (type) {
    case 'xstate.assign':
      return { type: 'assign', assignment: assignment! }
    case 'xstate.enqueueActions':
      return { type: 'collect', collect: collect! }
    case 'xstate.stopChild':
      return typeof actorRef === 'string' ? { type: 'stop', id: actorRef } : undefined
    case 'xstate.sendTo':
      if (typeof to !== 'string' || typeof event !== 'object' || delay !== undefined) return undefined
      return { type: 'tell', id: to, event: event as ChartEvent }
    default:
      if (typeof action === 'function' || type === undefined || typeof params === 'function') return undefined
      return { type: 'act', name: type, params }
  }
}

interface StartOptions {
  readonly id: string
  readonly input?: Mapper
  readonly systemId?: string
}

/** The `enqueue` of an action that decides by itself what to do; it puts that into `operations`. Throws on what no plan is made for. */
export function enqueueInto(operations: Operation[]) {
  const enqueue = (action: unknown): void => {
    const operation = operationOf(action)
    if (operation === undefined) throw new Error(`There is no plan for the action ${String(action)}.`)
    operations.push(operation)
  }
  return Object.assign(enqueue, {
    assign: (assignment: Extract<Operation, { type: 'assign' }>['assignment']) =>
      operations.push({ type: 'assign', assignment }),
    spawnChild: (src: string, { id, input, systemId }: StartOptions) =>
      operations.push({ type: 'start', src, id, input, ...(systemId === undefined ? {} : { systemId }) }),
    stopChild: (id: string) => operations.push({ type: 'stop', id }),
    sendTo: (id: string, event: ChartEvent) => operations.push({ type: 'tell', id, event }),
  })
}

import type { ActionFunction, EventObject, MachineContext } from 'xstate'
import type { RecordDraft } from '../protocol/records.ts'

/** A child that a transition starts, tells something or stops. */
export type ChildCommand =
  | {
      readonly type: 'start'
      readonly src: string
      readonly id: string
      readonly input: unknown
      /** Name of the child in the whole system. If the name is taken, the child stays unlisted. */
      readonly systemId?: string
    }
  | { readonly type: 'tell'; readonly id: string; readonly event: { readonly type: 'abort' | 'stop' | 'close' } }
  | { readonly type: 'stop'; readonly id: string }

/** Result of a transition: the next context, the records it writes, the commands to children. */
export interface Change<Context = object> {
  readonly context: Context
  readonly records?: readonly RecordDraft[]
  readonly children?: readonly ChildCommand[]
}

/** Makes a change. Plain and pure: the chart only says when it is made. */
export type MakeChange<Context = object, Event = unknown> = (context: Context, event: Event) => Change<Context>

interface Subject<Context> {
  readonly context: Context
  readonly event: unknown
  readonly system: { get(systemId: string): unknown }
  readonly enqueue: Enqueue
}

interface Enqueue {
  (action: { readonly type: 'record'; readonly params: readonly RecordDraft[] }): void
  assign(make: () => object): void
  spawnChild(src: string, options: object): void
  stopChild(id: string): void
  sendTo(id: string, event: object): void
}

type ChangeAction<Context, Event extends EventObject> = ActionFunction<
  Context & MachineContext,
  EventObject,
  Event,
  undefined,
  never,
  never,
  never,
  never,
  never
>

/**
 * Returns the chart action that makes a change through the setup's `enqueueActions`. The action carries `change`, so that an interpreter that
 * knows it may apply the change directly. `Event` is the type of the chart's events; XState types done events only at their `invoke`.
 */
export const changeAction = <Context, Event extends EventObject>(
  enqueueActions: (collect: never) => unknown,
  change: MakeChange<Context, never>,
): ChangeAction<Context, Event> =>
  Object.assign(enqueueActions(commit(change) as never) as ChangeAction<Context, Event>, { change })

/** Carries out a change through `enqueueActions` of XState. */
const commit =
  <Context>(make: MakeChange<Context, never>) =>
  ({ context, event, system, enqueue }: Subject<Context>): void => {
    const { context: next, records = [], children = [] } = make(context, event as never)
    if (next !== context) enqueue.assign(() => next as object)
    if (records.length > 0) enqueue({ type: 'record', params: records })
    for (const child of children) {
      if (child.type === 'stop') enqueue.stopChild(child.id)
      else if (child.type === 'tell') enqueue.sendTo(child.id, child.event)
      else {
        const { src, id, input, systemId } = child
        const isListed = systemId !== undefined && system.get(systemId) === undefined
        enqueue.spawnChild(src, isListed ? { id, input, systemId } : { id, input })
      }
    }
  }

import type { z } from 'zod'
import type { PartDraft } from '../../../machines/partStates.ts'
import { RuntimeError } from '../../../protocol/errors.ts'
import type { StateOp } from '../../../protocol/parts/state/patch.ts'
import type { RecordOf } from '../../../protocol/records.ts'
import { drafted } from '../../../protocol/parts/state/drafted.ts'
import { invalidState, noState } from './changeState.ts'
import { readState } from './stateOptions.ts'

/** The agent's state, for tools and hooks. All methods are synchronous. */
export interface StateDoor<State = unknown> {
  /** Returns the newest state. It is frozen; change it with `update`. */
  get(): State
  /**
   * Changes the state: `update` changes the draft that it is given, or returns another state. The change counts, and is recorded, when this returns
   * the new state. Every update sees the newest state, so none is lost to parallel calls. When a call runs again after a crash, its updates that are
   * in the log are not made again; they return what they returned.
   *
   * @throws RuntimeError `STATE_INVALID`: it does not fit the schema, is no JSON, too large, or `update` returned a promise; nothing is changed.
   */
  update(update: (draft: State) => State | void): State
  /** Replaces the state. Throws as `update` does. */
  set(value: State): State
  /**
   * Returns the same state with the type of a schema: that of the definition, or one that reads a part of it.
   *
   * @example
   * ```ts
   * const Plan = z.object({ steps: z.array(z.string()) })
   * const note = defineTool({
   *   name: 'note_step',
   *   description: 'Adds a step to the plan.',
   *   input: z.object({ step: z.string() }),
   *   run: ({ step }, { state }) => {
   *     const { steps } = state.of(Plan).update((plan) => void plan.steps.push(step))
   *     return `The plan has ${steps.length} steps.`
   *   },
   * })
   * ```
   */
  of<Schema extends z.ZodType>(schema: Schema): StateDoor<z.output<Schema>>
}

/** Author of a change of the state, in the form of the record of the change. */
export type StateAuthor = Pick<RecordOf<'state.patched'>, 'by' | 'callId' | 'n' | 'hook' | 'childId' | 'requestId'>

/** The state of an agent, as its effects reach it. */
export interface StatePort {
  /** Schema of the state. */
  readonly schema: z.ZodType
  readonly value: unknown
  /** Returns the state after an update that is in the log; `undefined` if the log does not have the update. */
  made(author: StateAuthor): { readonly value: unknown } | undefined
  /** Records a change, and returns the state after it. @throws RuntimeError `STATE_INVALID` */
  change(next: unknown, author: StateAuthor): unknown
  /**
   * Returns the record of a patch from outside, if it changes anything. `base`: the version that the patch was made for.
   * @throws RuntimeError `STATE_INVALID`, `STATE_CONFLICT`
   */
  patched(patch: readonly StateOp[], base: number | undefined, author: StateAuthor): readonly PartDraft[]
}

/** Opens the state for a call, until `isOver` returns true. Using it throws `STATE_OFF` for an agent that has none. */
export function stateDoor(
  { state: port, agentId }: { readonly state?: StatePort | undefined; readonly agentId: string },
  author: StateAuthor,
  isOver = (): boolean => false,
): StateDoor {
  let updates = 0
  const open = (): StatePort => {
    if (port === undefined) throw noState(`Agent "${agentId}"`)
    return port
  }
  const change = (make: (now: unknown) => unknown): unknown => {
    const state = open()
    if (isOver()) throw invalidState('The call is over: it can no longer change the state.')
    updates += 1
    const numbered = { ...author, n: updates }
    const made = state.made(numbered)
    return made === undefined ? state.change(make(state.value), numbered) : made.value
  }
  return doorOf({
    schema: () => open().schema,
    get: () => open().value,
    update: (update) => change((now) => drafted(now, update)),
    set: (value) => change(() => value),
  })
}

interface Way {
  readonly schema: () => z.ZodType
  readonly get: () => unknown
  readonly update: (update: (draft: never) => unknown) => unknown
  readonly set: (value: unknown) => unknown
}

const doorOf = (way: Way): StateDoor<never> & StateDoor => ({
  get: way.get as () => never,
  update: (update: (draft: never) => unknown) => way.update(update) as never,
  set: (value: unknown) => way.set(value) as never,
  of: (schema) => {
    const read = (value: unknown): unknown => (schema === way.schema() ? value : readAs(schema, value))
    return doorOf({
      ...way,
      get: () => read(way.get()),
      update: (update) => read(way.update(update)),
      set: (value) => read(way.set(value)),
    })
  },
})

function readAs(schema: z.ZodType, value: unknown): unknown {
  const read = readState(schema, value)
  if (read.wrong === undefined) return read.value
  throw new RuntimeError('STATE_INVALID', `The state does not fit the schema that it is read with: ${read.wrong}.`)
}

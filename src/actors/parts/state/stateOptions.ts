import { z } from 'zod'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { sameJson } from '../../../protocol/checks/sameJson.ts'
import { describeIssues, messageOf, RuntimeError } from '../../../protocol/errors.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { frozenState } from '../../../protocol/parts/state/patch.ts'
import { plainState } from '../../../protocol/parts/state/plainState.ts'

export interface StateOptions<State> {
  /** Schema of the state, whose values are JSON. Every change is checked by it, after secrets were taken out. */
  readonly schema: z.ZodType<State>
  /** The state of a new agent. */
  readonly initial: NoInfer<State>
  /**
   * Access of the model: `'read'` shows it the state when it has changed, as a note at the end of the request;
   * `'write'` also gives it the tool `update_state`. Default `false`: it does not see the state.
   */
  readonly model?: false | 'read' | 'write'
  /**
   * Converts a state from a log that no longer fits the schema, when an agent is opened. Without it such an agent does
   * not open. Fields that the schema fills in need no conversion.
   */
  readonly migrate?: (old: unknown) => NoInfer<State>
}

export interface StateOption<State> {
  /**
   * State that the application, people and tools change, beside the conversation. It is in the log, goes back with a
   * revert and along with a fork, and is the same after a restart. Off by default.
   */
  readonly state?: StateOptions<State>
}

/** The state of a definition. */
export interface StateSettings {
  readonly schema: z.ZodType
  /** State of a new agent, frozen. */
  readonly initial: unknown
  readonly model: false | 'read' | 'write'
  readonly migrate: ((old: unknown) => unknown) | null
}

export interface StateSetting {
  readonly state: StateSettings | null
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

export const stateSchema = lazily(() =>
  onlyFields({
    schema: z.custom(
      (value) => typeof value === 'object' && value !== null && '_zod' in value,
      'give a zod schema of the state',
    ),
    initial: z.unknown().refine((value) => value !== undefined, 'give the state of a new agent'),
    model: z.union([z.literal(false), z.enum(['read', 'write'])]).optional(),
    migrate: z.custom(isFunction, 'give a function of the old state').optional(),
  }),
)

/** Reads the option `state`. @throws RuntimeError `INVALID_DEFINITION` */
export function stateOf(given: StateOptions<unknown> | undefined, label: string): StateSettings | null {
  if (given === undefined) return null
  const { schema, model = false, migrate = null } = given
  const read = readState(schema, given.initial)
  if (read.wrong !== undefined) throw new RuntimeError('INVALID_DEFINITION', `${label}: state.initial: ${read.wrong}.`)
  return { schema, initial: frozenState(read.value), model, migrate }
}

/** A value in the form of the schema, or the problem with it. */
export type ReadState =
  | { readonly value: unknown; readonly wrong?: undefined }
  | { readonly wrong: string; readonly value?: undefined }

/** Returns a value with the schema's defaults and transforms applied. The result must be JSON that fits the schema too. Never throws. */
export function readState(schema: z.ZodType, value: unknown): ReadState {
  try {
    const plain = plainState(value)
    const parsed = schema.safeParse(plain)
    if (!parsed.success) return { wrong: describeIssues(parsed.error) }
    if (sameJson(parsed.data, plain)) return { value: plain }
    const made = plainState(parsed.data)
    const again = schema.safeParse(made)
    return again.success
      ? { value: made }
      : { wrong: `what the schema makes of it does not fit the schema: ${describeIssues(again.error)}` }
  } catch (thrown) {
    return { wrong: messageOf(thrown) }
  }
}

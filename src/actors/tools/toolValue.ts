import type { z } from 'zod'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { describeIssues, messageOf } from '../../protocol/errors.ts'
import { textOf, type Block } from '../../protocol/messages.ts'
import { isBlocks } from './isBlocks.ts'

/** The checked value of a call, in one form for the model and one for the application. */
export interface ToolValue {
  /** Value in the form that the model reads. */
  readonly shown: unknown
  /** The value as JSON; missing if only the model gets it. */
  readonly data?: unknown
  /** Set if the call ends the run. */
  readonly endsRun?: true
}

/** Return value of a tool once it is concluded. */
export class ConcludedValue {
  readonly value: ToolValue

  constructor(value: ToolValue) {
    this.value = value
  }
}

export interface Concluding {
  readonly callId: string
  readonly input: unknown
  /** Reports that a function of the tool threw. */
  failed(what: string, thrown: unknown): void
}

/** Converts the return value of a tool to its value. Rejects with the message that the model reads instead. */
export type Conclude = (value: unknown, call: Concluding) => Promise<ToolValue>

interface ValueOptions {
  readonly name: string
  readonly output?: z.ZodType | undefined
  readonly endsRun?: true | ((value: never, input: never) => boolean)
  toModel?(value: unknown): unknown
}

/** Returns the function that concludes a tool's values; `undefined` if the model gets them as they are. */
export function concludeOf({ name, output, toModel, endsRun }: ValueOptions): Conclude | undefined {
  if (output === undefined && toModel === undefined && endsRun === undefined) return undefined
  const isShownOnly = output === undefined && toModel === undefined
  const endsIt = (value: unknown, input: unknown, failed: Concluding['failed']): boolean => {
    if (typeof endsRun !== 'function') return endsRun === true
    try {
      return endsRun(value as never, input as never)
    } catch (thrown) {
      failed(`endsRun of tool "${name}"`, thrown)
      return false
    }
  }
  return async (returned, { input, failed }) => {
    const value = output === undefined ? returned : await fitting(output, returned)
    const made = {
      // A text, or blocks, are read as they are.
      ...(isShownOnly && (typeof value !== 'object' || isBlocks(value)) ? {} : jsonValue(value)),
      ...(endsIt(value, input, failed) ? ({ endsRun: true } as const) : {}),
    }
    if (toModel === undefined) return { shown: value, ...made }
    try {
      return { shown: await toModel(value), ...made }
    } catch (thrown) {
      failed(`toModel of tool "${name}"`, thrown)
      return { shown: value, ...made }
    }
  }
}

async function fitting(output: z.ZodType, value: unknown): Promise<unknown> {
  const result = await output.safeParseAsync(value)
  if (result.success) return result.data
  throw new Error(`The tool finished, but its result does not fit its output schema: ${describeIssues(result.error)}.`)
}

/** Returns the value as data; a tool that returned nothing has none. */
function jsonValue(value: unknown): Pick<ToolValue, 'data'> {
  if (value === undefined) return {}
  const place = notJsonIn(value)
  if (place !== undefined) throw new Error(`The tool finished, but its result is not JSON: ${place}`)
  return { data: cloneJson(value) }
}

/** Depth below which places are named by the value that they are in, because a circular value has no end. */
const deepestPlace = 8

/** Returns the first place in a value that JSON cannot hold, such as `rows.0.id: JSON has no bigint`; `undefined` if it is JSON. */
export function notJsonIn(value: unknown, path: readonly string[] = []): string | undefined {
  try {
    cloneJson(value)
    return undefined
  } catch (thrown) {
    if (typeof value === 'object' && value !== null && path.length < deepestPlace && !('toJSON' in value))
      for (const [key, item] of Object.entries(value)) {
        const place = item === undefined ? undefined : notJsonIn(item, [...path, key])
        if (place !== undefined) return place
      }
    return path.length === 0 ? messageOf(thrown) : `${path.join('.')}: ${messageOf(thrown)}`
  }
}

type InJson<Value> = unknown extends Value
  ? unknown
  : Value extends { toJSON(): infer Json }
    ? InJson<Json>
    : Value extends object
      ? { readonly [Key in keyof Value]: InJson<Value[Key]> }
      : Value

/** Type of the data of a call whose value has this type. Data given by name lies beside the fields of an object, or beside `value`. */
export type DataOf<Value> = unknown extends Value
  ? unknown
  : Value extends readonly unknown[] | string | number | boolean | null
    ? InJson<Value> | { readonly value: InJson<Value> }
    : InJson<Value>

/** Data that a call gave, by name; data without a name is under the empty one. */
export type GivenData = ReadonlyMap<string, unknown>

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the data of a result: the value or the data given without a name, together with the data given by name as further fields. A value that is
 * not an object then becomes the field `value`. Fields of the value itself take precedence.
 */
function joinedData(value: Pick<ToolValue, 'data'>, given: GivenData | undefined): Pick<ToolValue, 'data'> {
  if (given === undefined) return value
  const { '': unnamed, ...named } = Object.fromEntries(given)
  const base = 'data' in value ? value.data : unnamed
  if (Object.keys(named).length === 0) return { data: base }
  if (base === undefined) return { data: named }
  return { data: isRecord(base) ? { ...named, ...base } : { ...named, value: base } }
}

/** Application's part of a result without data that ends nothing. */
export const noData: Omit<ToolValue, 'shown'> = Object.freeze({})

/** Returns the data of a result for the application, and whether it ends the run; always the same object if neither. */
export function appData(
  value: Omit<ToolValue, 'shown'>,
  given: GivenData | undefined,
  { content }: { readonly content: readonly Block[] },
): Omit<ToolValue, 'shown'> & { readonly value?: unknown } {
  const { data } = joinedData(value, given)
  const { endsRun } = value
  if (data === undefined && endsRun === undefined) return noData
  return {
    ...(data === undefined ? {} : { data }),
    ...(endsRun === undefined ? {} : { endsRun }),
    ...(endsRun === undefined || given === undefined ? {} : { value: value.data ?? textOf(content) }),
  }
}

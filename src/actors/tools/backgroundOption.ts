import { z } from 'zod'
import { RuntimeError } from '../../protocol/errors.ts'
import type { JsonSchema } from '../../protocol/ports/model.ts'
import { invalid, type ReadSchema } from './toolSchema.ts'

export interface BackgroundWork {
  /** Calls that work in the background: all, or those whose arguments say so. */
  readonly when: 'always' | 'choice'
  /** Milliseconds before such a call is aborted. */
  readonly timeoutMs: number
  /** Set if the call continues when the branch with its receipt is reverted. */
  readonly survives?: true
  /** Ends anything that a dead process has left of such a call. */
  readonly cleanUp?: (left: unknown) => void | Promise<void>
}

interface Options {
  readonly run?: unknown
  readonly background?: true | 'choice'
  readonly survives?: true
  readonly cleanUp?: BackgroundWork['cleanUp']
  readonly timeoutMs?: number
  readonly endsRun?: unknown
}

const usualTimeoutMs = 3_600_000

/** Schemas of a tool's options about the background. */
export const backgroundSchemas = {
  background: () => z.union([z.literal(true), z.literal('choice')], 'give true or "choice"'),
  survives: () => z.literal(true, 'give true, or leave it out'),
  cleanUp: () => z.custom((value) => typeof value === 'function', 'give a function'),
} as const

/** Returns the problem with the option `background`; `undefined` if there is none. */
export function wrongInBackground({ run, background, survives, cleanUp, endsRun }: Options): string | undefined {
  if (background === undefined)
    return (survives ?? cleanUp) === undefined
      ? undefined
      : `${survives === undefined ? 'cleanUp' : 'survives'}: only for calls in the background: give "background" too`
  if (run === undefined)
    return 'background: what a client does works outside anyway: give "run", or leave "background" out'
  if (endsRun !== undefined) return 'background: its result comes after the run: leave "endsRun" out'
  return undefined
}

/** Returns the settings for a tool's calls in the background; `undefined` if it has none. */
export function backgroundWork({ background, survives, cleanUp, timeoutMs }: Options): BackgroundWork | undefined {
  if (background === undefined) return undefined
  const when = background === 'choice' ? 'choice' : 'always'
  return {
    when,
    timeoutMs: timeoutMs ?? usualTimeoutMs,
    ...(survives === true ? { survives } : {}),
    ...(cleanUp === undefined ? {} : { cleanUp }),
  }
}

/** Name of the field by which a model sends a call to the background. */
const field = 'background'

const description =
  'Set to true to go on with other work meanwhile: you get an id at once, and the result later, as a message.'

/** Returns the schema, if the field can be added to it. @throws RuntimeError `INVALID_DEFINITION` */
export function checkedChoice({ background }: Options, schema: ReadSchema, label: string): ReadSchema {
  if (background !== 'choice' || !Object.hasOwn(propertiesOf(schema.inputSchema), field)) return schema
  const what = `background: its schema has a field "${field}" of its own: give true, or rename the field`
  throw new RuntimeError('INVALID_DEFINITION', `${label}: ${what}.`)
}

const propertiesOf = (schema: JsonSchema) => (schema['properties'] ?? {}) as { readonly [name: string]: JsonSchema }

/** Adds the field `background` to the schema of a tool with the choice. The tool itself never sees it. */
export function withChoice({ background }: Options, schema: ReadSchema): ReadSchema {
  if (background !== 'choice') return schema
  const { inputSchema, isWaiting } = schema
  const chosen = new WeakMap<object, unknown>()
  // A check may know its own value again.
  const own = (value: unknown): unknown => (isPlain(value) ? (chosen.get(value) ?? value) : value)
  return {
    inputSchema: {
      ...inputSchema,
      properties: { ...propertiesOf(inputSchema), [field]: { type: 'boolean', description } },
    },
    parse: (input) => {
      const { [field]: choice, ...rest } = isPlain(input) ? input : {}
      if (choice === undefined) return schema.parse(input)
      if (typeof choice !== 'boolean') return { ok: false, message: invalid(`${field}: give true or false`) }
      const parsed = schema.parse(rest)
      if (!parsed.ok || !isPlain(parsed.value)) return parsed
      // Arguments that are settled are read again from what this gives.
      const value = { ...parsed.value, [field]: choice }
      chosen.set(value, parsed.value)
      return { ok: true, value }
    },
    ...(isWaiting === undefined ? {} : { isWaiting: (value: unknown) => isWaiting(own(value)) }),
    finish: (value) => schema.finish(own(value)),
  }
}

function isPlain(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

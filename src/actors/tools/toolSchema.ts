import { isObject } from '../../protocol/checks/isObject.ts'
import { callbackBugs, isLikelyBug } from '../../protocol/callbackBugs.ts'
import { zodJson } from '../../protocol/checks/zodJson.ts'
import type { z } from 'zod'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import { describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { JsonSchema } from '../../protocol/ports/model.ts'
import { foreignSchema } from './schemaKind.ts'

/** Result of a check of arguments. */
export type SchemaResult<T = unknown> =
  | { readonly success: true; readonly value: T }
  | { readonly success: false; readonly error: unknown }

/** A JSON Schema for the model, with a function that checks the arguments. Without `validate` they are checked by the schema. */
export interface JsonSchemaInput<T = { readonly [key: string]: unknown }> {
  readonly jsonSchema: JsonSchema
  /** Check that may change the value and may be asynchronous. An asynchronous check is run when the tool runs. */
  readonly validate?: ((value: unknown) => SchemaResult<T> | PromiseLike<SchemaResult<T>>) | undefined
}

/** A schema of any library that implements Standard Schema and can write its schemas as JSON Schema. */
export interface StandardInput<In = unknown, Out = unknown> {
  readonly '~standard': {
    readonly vendor: string
    readonly types?: { readonly input: In; readonly output: Out } | undefined
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => JsonSchema }
  }
}

type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The schemas that a tool's arguments may have. */
export type ToolSchema = z.ZodType | JsonSchemaInput<unknown> | StandardInput

/** The result of a check; `message` is meant for the model. */
export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

export interface ReadSchema {
  readonly inputSchema: JsonSchema
  /** Checks arguments. Never throws. A value with an asynchronous check is passed on as it is. */
  parse(input: unknown): Parsed
  /** Returns true while the check of a value from `parse` is not complete. */
  isWaiting?(value: unknown): boolean
  /** Completes an asynchronous check. @throws Error for the model */
  finish(value: unknown): unknown
}

/** Reader of JSON Schemas, which packages provide and the core lacks. It is there once one of them has defined a tool or an agent. */
export const jsonSchemas: { read?: (input: JsonSchemaInput<unknown>, label: string) => ReadSchema } = {}

type Validate = (value: unknown) => SchemaResult | PromiseLike<SchemaResult>

const standardOf = (value: object): StandardInput['~standard'] | undefined =>
  (value as Partial<StandardInput>)['~standard']

export const isToolSchema = (value: unknown): value is ToolSchema =>
  (isObject(value) || typeof value === 'function') &&
  ('_zod' in value || 'jsonSchema' in value || typeof standardOf(value)?.jsonSchema?.input === 'function')

/** Returns the problem with a value that is no schema for a tool. */
export const notASchema = (value: unknown): string =>
  foreignSchema(value) ??
  'give a zod object, z.object({ … }), a Standard Schema with JSON Schema, or { jsonSchema: { … } }'

/** Reads the schema of a tool's arguments. @throws RuntimeError `INVALID_DEFINITION`, beginning with `label` */
export function readSchema(input: ToolSchema, label: string): ReadSchema {
  try {
    if ('jsonSchema' in input) return jsonSchemas.read!(input, label)
    if ('_zod' in input) return zodReader(objectSchema(zodJson(input)), input)
    const standard = standardOf(input)!
    return reader(objectSchema(standard.jsonSchema.input({ target: 'draft-2020-12' })), standardCheck(standard))
  } catch (thrown) {
    throw new RuntimeError('INVALID_DEFINITION', `${label}: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

/** Returns the schema frozen, without `$schema`. @throws Error if it is not the schema of an object */
export function objectSchema({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  if (schema['type'] !== 'object') throw new Error(`the input must be an object, it is ${kindOf(schema)}`)
  return Object.freeze(schema)
}

function kindOf({ type, anyOf, oneOf }: { readonly [field: string]: unknown }): string {
  if (type !== undefined) return JSON.stringify(type)
  if (anyOf === undefined && oneOf === undefined) return 'a schema without a type'
  return 'a union, which providers do not take: put it into a field, z.object({ action: z.union([ … ]) })'
}

const zodReader = (inputSchema: JsonSchema, schema: z.ZodType): ReadSchema => ({
  inputSchema,
  parse: (input) => parseInput(schema, input),
  finish: (value) => value,
})

/** Returns the reader of a schema whose check may be asynchronous, which is known after its first call. */
export function reader(inputSchema: JsonSchema, validate: Validate): ReadSchema {
  const waiting = new WeakSet<object>()
  return {
    inputSchema,
    parse: (input) =>
      parseWith(input, (value) => {
        const result = validate(value)
        if (!isThenable(result)) return toParsed(result)
        // Only `finish` needs the answer.
        result.then(undefined, () => {})
        if (isObject(value)) waiting.add(value)
        return { ok: true, value }
      }),
    isWaiting: (value) => isObject(value) && waiting.has(value),
    finish: (value) => (isObject(value) && waiting.has(value) ? finished(validate, value) : value),
  }
}

async function finished(validate: Validate, value: unknown): Promise<unknown> {
  const parsed = toParsed(await validate(value))
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

export const standardCheck =
  ({ validate }: StandardInput['~standard']): Validate =>
  (value) => {
    const result = validate(value)
    return isThenable(result) ? result.then(toResult) : toResult(result)
  }

const toResult = (result: StandardResult<unknown>): SchemaResult =>
  result.issues === undefined ? { success: true, value: result.value } : { success: false, error: result }

function toParsed(result: SchemaResult): Parsed {
  if (result?.success) return { ok: true, value: result.value }
  return { ok: false, message: invalid(wrongIn(result?.error)) }
}

/** Returns the message for the model about arguments that do not fit; a very long list of problems is cut. */
export const invalid = (what: string): string =>
  `Invalid arguments: ${cutEnd(what, 2_000)}. Correct them and call again.`

/** Returns the problems that a library reports: the issues of its error or of a cause, else the error's message. */
function wrongIn(error: unknown): string {
  for (let cause: unknown = error, depth = 0; isObject(cause) && depth < 5; depth++) {
    const { issues, cause: deeper } = cause as { readonly issues?: unknown; readonly cause?: unknown }
    const list = Array.isArray(issues) ? issues : Array.isArray(cause) ? cause : []
    if (list.length > 0) return (list as StandardIssue[]).slice(0, 20).map(issueText).join('; ')
    cause = deeper
  }
  return cutEnd(messageOf(error), 1_000).replace(/[.]$/, '')
}

function issueText({ path = [], message }: StandardIssue): string {
  const place = path.map((part) => String(isObject(part) ? part.key : part)).join('.')
  return `${place === '' ? '' : `${place}: `}${message}`
}

/** Checks a model's arguments with a zod schema. */
export const parseInput = (schema: z.ZodType, input: unknown): Parsed =>
  parseWith(input, (value) => {
    const result = schema.safeParse(value)
    return result.success
      ? { ok: true, value: result.data }
      : { ok: false, message: invalid(describeIssues(result.error)) }
  })

/** Checks arguments. A string is refused, because it means that they were not valid JSON. */
export function parseWith(input: unknown, check: (value: unknown) => Parsed): Parsed {
  if (typeof input === 'string') {
    return { ok: false, message: `The arguments are not valid JSON: ${cutEnd(input, 200)}. Send one JSON object.` }
  }
  try {
    return check(input ?? {})
  } catch (thrown) {
    if (isLikelyBug(thrown)) callbackBugs.tell('The check of the arguments of a tool', thrown)
    return { ok: false, message: `The arguments could not be checked: ${messageOf(thrown)}` }
  }
}

const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  isObject(value) && 'then' in value && typeof value.then === 'function'

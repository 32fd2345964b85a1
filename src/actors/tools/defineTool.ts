import { z } from 'zod'
import { cutEnd } from '../../conversation/cutMiddle.ts'
import { describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { PlainBlock } from '../../protocol/messages.ts'
import type { JsonSchema } from '../../protocol/model.ts'
import { foreignSchema } from './schemaKind.ts'

/**
 * Removes the secrets named by the runtime's `redact` from text. The runtime does this to everything a tool returns; a tool that
 * cuts its own text should do it first, because a secret that was cut in half is no longer recognised.
 */
export interface Redaction {
  /** The text, or a part of it judged in the context of the whole, with a mark in place of each secret. */
  text(text: string, part?: { readonly from: number; readonly to: number }): string
  /** For text that arrives in pieces: whatever might be the beginning of a secret is held back until `end`. */
  stream(): {
    push(text: string): { readonly text: string } | undefined
    end(): { readonly text: string } | undefined
  }
}

/** What a tool's `run` receives in addition to its input. */
export interface ToolContext {
  /** Aborted when the run is aborted, the agent stops or the tool times out. */
  readonly signal: AbortSignal
  /** The model's id of this call. */
  readonly callId: string
  /** Deterministic id of the call, the same on every attempt: an idempotency key for external effects. */
  readonly key: string
  /** Reports progress to observers in a `tool.progress` event. Takes any JSON value; ignored once the call has ended. */
  report(progress: unknown): void
  /** Reports that the call changed a file or the like, so that a revert can say what is still changed. Use names the model knows. */
  changed(path: string): void
  /** Absent when the runtime has no `redact`. */
  readonly redact?: Redaction | undefined
  readonly agent: { readonly id: string; readonly path: readonly string[] }
}

/** What `run` may return: a string, content blocks, any JSON value, or nothing. */
export type ToolOutput = unknown

/** What effects a call may have, and so whether it may run again when it is not known whether it finished. */
export type ToolEffects = 'none' | 'idempotent' | 'irreversible'

/** A tool as the runtime uses it, created by `defineTool`. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly timeoutMs: number
  readonly maxOutputChars: number
  readonly effects: ToolEffects
  /** It waits for something: the same call again is no loop. */
  readonly polls: boolean
  /** Checks the model's arguments; `message` is meant for the model. Never throws. */
  parse(
    input: unknown,
  ): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }
  /** Whether a person must approve this call. Takes parsed input. */
  needsApproval(input: unknown): boolean | Promise<boolean>
  run(input: unknown, context: ToolContext): ToolOutput | Promise<ToolOutput>
}

export interface ToolOptions<Input extends z.ZodType | { readonly jsonSchema: JsonSchema }> {
  /** 1 to 64 letters, digits, `_` or `-`: what every provider accepts. */
  readonly name: string
  readonly description: string
  /** A zod object, or `{ jsonSchema }` for a tool whose schema comes from elsewhere. */
  readonly input: Input
  /**
   * Does the work. It may throw or reject (the model gets the message as a tool error) and should stop when `signal` aborts; a
   * result that arrives after an abort or a timeout is dropped.
   */
  run(
    input: Input extends z.ZodType ? z.output<Input> : { readonly [key: string]: unknown },
    context: ToolContext,
  ): ToolOutput | Promise<ToolOutput>
  /** `true`, or a predicate on the input: the call waits for `agent.decide`. A predicate that throws means yes. */
  readonly needsApproval?:
    | boolean
    | ((
        input: Input extends z.ZodType ? z.output<Input> : { readonly [key: string]: unknown },
      ) => boolean | Promise<boolean>)
  /** Milliseconds before the call is aborted; default 600,000; `Infinity` for no timeout. */
  readonly timeoutMs?: number
  /** How many characters of text output the model gets; a longer text has its middle replaced by a marker. Default 30,000. */
  readonly maxOutputChars?: number
  /**
   * What happens after a crash in the middle of a call: `'none'` (only reads) and `'idempotent'` (takes effect once per `key`) run
   * again; `'irreversible'`, the default, does not, and the model is told that it is not known whether it happened. Calls of an
   * irreversible tool stay visible to the model, one line each, when their step is hidden.
   */
  readonly effects?: ToolEffects
  /** It waits for something outside, so that calling it again and again is no stall (`braking.stall`). Default `false`. */
  readonly polls?: boolean
}

const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('_zod' in value || 'jsonSchema' in value)

const optionsSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
  description: z.string().min(1, 'describe the tool: the model chooses by this'),
  input: z.custom<object>(isSchema, {
    error: ({ input }) => foreignSchema(input) ?? 'give a zod object, z.object({ … }), or { jsonSchema: { … } }',
  }),
  run: z.custom((value) => typeof value === 'function', 'give a function'),
  needsApproval: z.union([z.boolean(), z.custom((value) => typeof value === 'function')]).optional(),
  timeoutMs: z.union([z.number().positive(), z.literal(Infinity)]).optional(),
  maxOutputChars: z.int().min(100).optional(),
  effects: z.enum(['none', 'idempotent', 'irreversible']).optional(),
  polls: z.boolean().optional(),
})

/**
 * Defines a tool from a schema and a function.
 *
 * @throws RuntimeError `INVALID_DEFINITION` when an option is missing or malformed, or the schema is not an object's.
 *
 * @example
 * ```ts
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The current weather in a city.',
 *   input: z.object({ city: z.string() }),
 *   effects: 'none',
 *   run: ({ city }) => `Fair in ${city}.`,
 * })
 * ```
 */
export function defineTool<const Input extends z.ZodType | { readonly jsonSchema: JsonSchema }>(
  options: ToolOptions<Input>,
): Tool {
  const checked = optionsSchema.safeParse(options)
  const label = `Tool ${JSON.stringify((options as { name?: unknown } | undefined)?.name)}`
  if (!checked.success) throw new RuntimeError('INVALID_DEFINITION', `${label}: ${describeIssues(checked.error)}.`)
  const { schema, inputSchema } = readSchema(options.input, label)
  const approval = options.needsApproval ?? false
  return Object.freeze({
    name: options.name,
    description: options.description,
    inputSchema,
    timeoutMs: options.timeoutMs ?? 600_000,
    maxOutputChars: options.maxOutputChars ?? 30_000,
    effects: options.effects ?? 'irreversible',
    polls: options.polls ?? false,
    parse: (input: unknown) => parseInput(schema, input),
    needsApproval: typeof approval === 'function' ? approval : () => approval,
    run: options.run,
  })
}

function readSchema(input: z.ZodType | { readonly jsonSchema: JsonSchema }, label: string) {
  try {
    const schema = 'jsonSchema' in input ? z.fromJSONSchema(input.jsonSchema) : input
    const { $schema: _, ...inputSchema } =
      'jsonSchema' in input ? input.jsonSchema : z.toJSONSchema(input, { io: 'input' })
    if (inputSchema['type'] !== 'object') throw new Error(`the input must be an object, it is ${kindOf(inputSchema)}`)
    return { schema, inputSchema: Object.freeze(inputSchema) as JsonSchema }
  } catch (thrown) {
    throw new RuntimeError('INVALID_DEFINITION', `${label}: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

function kindOf({ type, anyOf, oneOf }: { readonly [field: string]: unknown }): string {
  if (type !== undefined) return JSON.stringify(type)
  if (anyOf === undefined && oneOf === undefined) return 'a schema without a type'
  return 'a union, which providers do not take: put it into a field, z.object({ action: z.union([ … ]) })'
}

function parseInput(schema: z.ZodType, input: unknown): ReturnType<Tool['parse']> {
  if (typeof input === 'string') {
    return { ok: false, message: `The arguments are not valid JSON: ${cutEnd(input, 200)}. Send one JSON object.` }
  }
  try {
    const result = schema.safeParse(input ?? {})
    if (result.success) return { ok: true, value: result.data }
    return { ok: false, message: `Invalid arguments: ${describeIssues(result.error)}. Correct them and call again.` }
  } catch (thrown) {
    return { ok: false, message: `The arguments could not be checked: ${messageOf(thrown)}` }
  }
}

/** Whether a value returned by a tool is already a list of content blocks. */
export const isBlocks = (value: unknown): value is readonly PlainBlock[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (block: unknown) =>
      typeof block === 'object' &&
      block !== null &&
      'type' in block &&
      ((block.type === 'text' && 'text' in block && typeof block.text === 'string') ||
        (block.type === 'image' &&
          'data' in block &&
          typeof block.data === 'string' &&
          'mimeType' in block &&
          typeof block.mimeType === 'string')),
  )

import { z } from 'zod'
import { cutEnd } from '../../conversation/cutMiddle.ts'
import { describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { PlainBlock } from '../../protocol/messages.ts'
import type { JsonSchema } from '../../protocol/model.ts'
import { foreignSchema } from './schemaKind.ts'

/**
 * Takes the secrets of the runtime's `redact` out of text. The runtime does so with all that a tool gives; a tool that cuts its text itself
 * does it before, as a secret that was cut through is not found any more.
 */
export interface Redaction {
  /** The text, or a part of it seen in the context of all of it, with a mark in place of each secret. */
  text(text: string, part?: { readonly from: number; readonly to: number }): string
  /** For a text that arrives in pieces: what might be the beginning of a secret is held back until `end`. */
  stream(): {
    push(text: string): { readonly text: string } | undefined
    end(): { readonly text: string } | undefined
  }
}

/** What a tool's `run` gets beside its input. */
export interface ToolContext {
  /** Aborted when the run is aborted, the agent stops or the tool's time is up. */
  readonly signal: AbortSignal
  /** The model's id of this call. */
  readonly callId: string
  /** Deterministic id of the call, the same on every attempt: an idempotency key for effects elsewhere. */
  readonly key: string
  /** Tells observers how far the call is: a `tool.progress` event. Any JSON value; ignored once the call has ended. */
  report(progress: unknown): void
  /** Tells that the call changed a file or the like: what a revert must say is still changed. Names as the model knows them. */
  changed(path: string): void
  /** Missing when the runtime was given no `redact`. */
  readonly redact?: Redaction | undefined
  readonly agent: { readonly id: string; readonly path: readonly string[] }
}

/** What `run` may return: a string, content blocks, any JSON value, or nothing. */
export type ToolOutput = unknown

/** What a call may do to the world, and so whether it may run again when nobody knows if it ended. */
export type ToolEffects = 'none' | 'idempotent' | 'irreversible'

/** A tool as the runtime uses it; made by `defineTool`. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly timeoutMs: number
  readonly maxOutputChars: number
  readonly effects: ToolEffects
  /** Checks the model's arguments; `message` is written for the model. Never throws. */
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
  /** A zod object, or `{ jsonSchema }` for a tool described elsewhere. */
  readonly input: Input
  /**
   * Does the work. Contract: may throw or reject (the model reads the message as a tool error); should stop when
   * `signal` aborts; a result that arrives after an abort or the timeout is dropped.
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
  /** Milliseconds before the call is given up and aborted; default 600,000; `Infinity` for none. */
  readonly timeoutMs?: number
  /** Characters of text output the model gets; the middle of a longer one is cut out, with a marker. Default 30,000. */
  readonly maxOutputChars?: number
  /**
   * After a crash in the middle of a call: `'none'` (only reads) and `'idempotent'` (the same `key` has its effect once) run
   * again; `'irreversible'`, the default, does not, and the model is told that it is not known whether it happened. Calls of an
   * irreversible tool stay in sight of the model, in a line each, when their step is hidden.
   */
  readonly effects?: ToolEffects
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
})

/**
 * Makes a tool of a schema and a function.
 *
 * @throws RuntimeError `INVALID_DEFINITION` when an option is missing or malformed, or the schema is not an object's.
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

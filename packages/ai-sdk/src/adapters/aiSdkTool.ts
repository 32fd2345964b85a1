import { isObject } from '../../../../src/protocol/checks/isObject.ts'
import { cloneJson } from '../../../../src/protocol/checks/cloneJson.ts'
import { zodJson } from '../../../../src/protocol/checks/zodJson.ts'
import type { z } from 'zod'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { breather } from '../../../../src/actors/timing/breather.ts'
import type { AiSdkTool } from '../../../../src/actors/define/outside.ts'
import type { RunContext } from '../../../../src/actors/calls/runContext.ts'
import {
  toolOf,
  type Tool,
  type ToolContext,
  type ToolEffects,
  type ToolOptions,
} from '../../../../src/actors/tools/defineTool.ts'
import { foreignSchema } from '../../../../src/actors/tools/schemaKind.ts'
import {
  readSchema,
  standardCheck,
  type ReadSchema,
  type SchemaResult,
  type StandardInput,
} from '../../../../src/actors/tools/toolSchema.ts'
import { notJsonIn } from '../../../../src/actors/tools/toolValue.ts'
import { takeJsonSchemas } from '../../../schemas/src/defineTool.ts'
import { plainOutput, toolOutputOf } from './modelOutput.ts'

/** Options for tools of the AI SDK that the tools do not state themselves. */
export interface AiSdkToolUse {
  readonly effects?: Exclude<ToolEffects, 'reversible'> | undefined
  readonly needsApproval?:
    | boolean
    | ((input: never, context: RunContext<never>) => boolean | Promise<boolean>)
    | undefined
  readonly timeoutMs?: number | undefined
  readonly maxOutputChars?: number | undefined
}

/** Options of its call that a tool is given, as the AI SDK does. */
interface CallOptions {
  readonly toolCallId: string
  readonly messages: readonly never[]
  readonly abortSignal?: AbortSignal
  readonly context: unknown
}

type Check = (value: unknown) => SchemaResult | PromiseLike<SchemaResult>

/** Converts a tool of the AI SDK to one of ours; returns a promise if its schema is one. @throws RuntimeError `INVALID_DEFINITION` */
export function aiSdkTool(name: string, tool: AiSdkTool, use: AiSdkToolUse, prefix: string): Tool | Promise<Tool> {
  const label = `${prefix}Tool ${JSON.stringify(name)}`
  const refused = (why: string, cause?: unknown): RuntimeError =>
    new RuntimeError('INVALID_DEFINITION', `${label}: ${why}.`, { cause })
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw refused('use 1 to 64 letters, digits, "_" or "-" as its name')
  const isProvided = tool.type === 'provider' && tool.isProviderExecuted === true
  if (!isProvided && typeof tool.execute !== 'function')
    throw refused(`it has no "execute". If a client carries out its calls, define it with defineTool, without "run"`)
  const made = (schema: ReadSchema): Tool => {
    const own = toolOf<unknown, string, unknown>(optionsOf(name, tool, use, schema), schema)
    return Object.freeze({ ...own, ...specParts(tool), ...concludedBy(tool) })
  }
  try {
    if (isProvided) return made(anyInput)
    const schema = schemaOf(tool.inputSchema, label, tool.type !== 'provider')
    if (!(schema instanceof Promise)) return made(schema)
    return schema.then(made, (thrown: unknown) => {
      throw refused(messageOf(thrown).replace(/[.]$/, ''), thrown)
    })
  } catch (thrown) {
    throw refused(messageOf(thrown).replace(/[.]$/, ''), thrown)
  }
}

/** Accepts any arguments, because the provider checks those of its own tools. */
const anyInput: ReadSchema = {
  inputSchema: Object.freeze({ type: 'object' }),
  parse: (value) => ({ ok: true, value }),
  finish: (value) => value,
}

type Options = ToolOptions<{ readonly jsonSchema: JsonSchema }>

function optionsOf(name: string, tool: AiSdkTool, use: AiSdkToolUse, { inputSchema }: ReadSchema): Options {
  const { effects, timeoutMs, maxOutputChars } = use
  const needsApproval = approvalOf(tool, use)
  return {
    name,
    description: descriptionOf(name, tool),
    input: { jsonSchema: inputSchema },
    run: tool.execute === undefined ? () => notOurs(name) : (input, context) => run(tool, input, context),
    ...(needsApproval === undefined ? {} : { needsApproval }),
    ...(effects === undefined ? {} : { effects }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxOutputChars === undefined ? {} : { maxOutputChars }),
  }
}

function notOurs(name: string): never {
  throw new Error(`The provider of the model carries out "${name}" itself: it cannot be called here.`)
}

function descriptionOf(name: string, { description, type, id }: AiSdkTool): string {
  if (type === 'provider') return `A tool of the provider: ${id}.`
  const text = typeof description === 'function' ? description({ context: {} } as never) : description
  return text === undefined || text === '' ? name : text
}

/** Returns the fields sent with the tool besides its name, description and schema. */
function specParts({ type, id, args, strict, inputExamples, providerOptions }: AiSdkTool): Pick<Tool, 'spec'> {
  const spec = {
    ...(type === 'provider' ? { provider: { id: String(id), args: (args ?? {}) as JsonSchema } } : {}),
    ...(strict === undefined ? {} : { strict }),
    ...(inputExamples === undefined ? {} : { inputExamples }),
    ...(providerOptions === undefined ? {} : { providerOptions: providerOptions as JsonSchema }),
  }
  return Object.keys(spec).length === 0 ? {} : { spec: JSON.parse(JSON.stringify(spec)) as NonNullable<Tool['spec']> }
}

function approvalOf(tool: AiSdkTool, use: AiSdkToolUse): Options['needsApproval'] {
  const given = use.needsApproval ?? tool.needsApproval
  if (typeof given !== 'function') return given === true
  if (use.needsApproval !== undefined) return given as Options['needsApproval']
  const asks = given as (input: unknown, options: CallOptions) => boolean | Promise<boolean>
  // The call has no id yet that a tool could use.
  return async (input, { deps }) => asks(input, { toolCallId: '', messages: [], context: await contextOf(tool, deps) })
}

/** Returns the tool's `conclude`: JSON output is data for the application, and the model reads the result of `toModelOutput`. */
const concludedBy = ({ toModelOutput }: AiSdkTool): Pick<Tool, 'conclude'> =>
  toModelOutput === undefined
    ? {}
    : {
        conclude: async (output, { callId: toolCallId, input }) => ({
          shown: toolOutputOf(await toModelOutput({ toolCallId, input, output } as never)),
          ...(output === undefined || notJsonIn(output) !== undefined ? {} : { data: cloneJson(output) }),
        }),
      }

async function run(tool: AiSdkTool, input: unknown, { callId, deps, signal, report }: ToolContext): Promise<unknown> {
  const execute = tool.execute as (input: unknown, options: CallOptions) => unknown
  const context = await contextOf(tool, deps)
  const output = await lastOf(
    execute(input, { toolCallId: callId, messages: [], abortSignal: signal, context }),
    report,
    signal,
  )
  return tool.toModelOutput === undefined ? plainOutput(output) : output
}

/** Resolves with the value that the tool returns, or with the last one it yields. Earlier ones are progress. */
async function lastOf(result: unknown, report: (value: unknown) => void, signal: AbortSignal): Promise<unknown> {
  if (!isObject(result) || !(Symbol.asyncIterator in result)) return result
  let last: unknown
  const breathe = breather()
  for await (const output of result as AsyncIterable<unknown>) {
    // One that never waits is not to hold the process.
    await breathe()
    signal.throwIfAborted()
    report(output)
    last = output
  }
  return last
}

/** Resolves with the application's value for the run, parsed by the tool's context schema. */
async function contextOf({ contextSchema }: AiSdkTool, deps: unknown): Promise<unknown> {
  if (contextSchema === undefined) return deps ?? {}
  const check = checkOf(resolved(contextSchema))
  const checked = await check?.(deps)
  if (checked?.success === false) throw new Error('The deps of this run are not the context that the tool needs.')
  return checked === undefined ? deps : checked.value
}

/** A schema may be made when it is first needed; those of some libraries are functions themselves. */
const resolved = (schema: unknown): unknown =>
  typeof schema === 'function' && !('~standard' in schema) ? (schema as () => unknown)() : schema

const isSchema = (value: unknown): value is object => isObject(value) || typeof value === 'function'

function checkOf(schema: unknown): Check | undefined {
  if (!isSchema(schema)) return undefined
  const { '~standard': standard, validate } = schema as Partial<StandardInput> & { readonly validate?: Check }
  return standard === undefined ? validate : standardCheck(standard)
}

/** Reads any schema that the AI SDK accepts. `isSent`: providers see it; a tool that they define themselves is sent by its id. */
function schemaOf(given: unknown, label: string, isSent: boolean): ReadSchema | Promise<ReadSchema> {
  const schema = resolved(given)
  if (schema === undefined) return readerOf(noInput, undefined, label, isSent)
  if (!isSchema(schema)) throw new Error('its inputSchema is not a schema')
  const written = jsonSchemaOf(schema)
  const check = checkOf(schema)
  return isPromise(written)
    ? Promise.resolve(written).then((json) => readerOf(json, check, label, isSent))
    : readerOf(written, check, label, isSent)
}

const noInput: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

const isPromise = (value: JsonSchema | PromiseLike<JsonSchema>): value is PromiseLike<JsonSchema> =>
  typeof value['then'] === 'function'

function jsonSchemaOf(schema: object): JsonSchema | PromiseLike<JsonSchema> {
  if ('_zod' in schema) return zodJson(schema as z.ZodType)
  const { '~standard': standard } = schema as Partial<StandardInput>
  if (standard?.jsonSchema !== undefined) return standard.jsonSchema.input({ target: 'draft-2020-12' })
  const { jsonSchema } = schema as { readonly jsonSchema?: JsonSchema | PromiseLike<JsonSchema> }
  if (isObject(jsonSchema)) return jsonSchema
  throw new Error(foreignSchema(schema) ?? 'its inputSchema is not a schema')
}

function readerOf(
  { $schema: _, ...schema }: JsonSchema,
  check: Check | undefined,
  label: string,
  isSent: boolean,
): ReadSchema {
  const { type, anyOf, oneOf } = schema
  if (type !== undefined && type !== 'object')
    throw new Error(`its input must be an object, it is ${JSON.stringify(type)}`)
  if (isSent && type === undefined && (anyOf ?? oneOf) !== undefined)
    throw new Error('its input is a union, which providers do not take: put it into a field')
  // The AI SDK itself checks nothing by a schema without a check.
  takeJsonSchemas()
  return readSchema({ jsonSchema: { ...schema, type: 'object' }, validate: check }, label)
}

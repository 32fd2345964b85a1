import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import type { Tool, ToolContext, ToolEffects } from '../../../src/actors/tools/defineTool.ts'
import { defineTool } from '../../schemas/src/defineTool.ts'
import type { SourceHost } from '../../../src/actors/tools/toolSource.ts'
import { errorOf, resultOf, type AnswerRules } from './answers.ts'
import { bodyKey, type Fields } from './fields.ts'
import type { ReadOperation } from './operations.ts'
import { placed } from './parameters.ts'
import { contentOf } from './requestBody.ts'
import { checkOf } from './schemas.ts'
import type { Proofs } from './security.ts'
import { pauseOf, send, type Sending } from './send.ts'
import { addressOf } from './servers.ts'
import { keyFor } from './keyFor.ts'

/** Everything needed to call an operation. */
export interface OperationPlan {
  readonly operation: ReadOperation
  readonly fields: Fields
  readonly proofs: Proofs
  /** Addresses of the service: calls go to the first, and redirects may lead to the others. */
  readonly servers: readonly URL[]
  readonly effects: Exclude<ToolEffects, 'reversible'>
  readonly needsApproval: boolean | ((input: unknown) => boolean)
  readonly answers: Omit<AnswerRules, 'redact'>
  readonly timeoutMs: number
}

/** Maximum length of a tool's description, in UTF-16 units. */
const maxDescription = 1_024

type Input = { readonly [key: string]: unknown }

/** The tool of an operation, and the arguments that only the service checks. */
export interface OperationTool {
  readonly tool: Tool
  readonly unchecked?: string
}

/** Makes the tool of an operation. */
export function operationTool(plan: OperationPlan, host: SourceHost): OperationTool {
  const { operation, fields, effects, needsApproval, timeoutMs } = plan
  const { parse, unchecked } = checkOf(fields.checked)
  const tool = defineTool({
    name: operation.name,
    description: descriptionOf(operation),
    // What is checked, and what the model is shown, is set below.
    input: { jsonSchema: { type: 'object' } },
    effects,
    needsApproval,
    timeoutMs,
    run: (input, context) => call(plan, host, input, context),
  })
  return {
    tool: Object.freeze({ ...tool, inputSchema: Object.freeze(fields.schema) as JsonSchema, parse }),
    ...(unchecked === undefined ? {} : { unchecked: `${operation.name}: ${unchecked}` }),
  }
}

const titleOf = ({ method, path }: ReadOperation): string => `${method} ${path}`

function descriptionOf(operation: ReadOperation): string {
  const { summary = '', description = '', deprecated } = operation.operation
  const said = [deprecated === true ? 'Deprecated.' : '', summary, description === summary ? '' : description]
  const words = said.filter((part) => part.trim() !== '').join('\n')
  return cutEnd(words === '' ? titleOf(operation) : `${words}\n(${titleOf(operation)})`, maxDescription)
}

async function call(plan: OperationPlan, host: SourceHost, input: Input, context: ToolContext): Promise<unknown> {
  const { operation, proofs, servers, effects, answers } = plan
  const rules = {
    signal: context.signal,
    clock: host.clock,
    origins: new Set(servers.map(({ origin }) => origin)),
    mayRepeat: effects !== 'irreversible',
  }
  let response = await send(await requestOf(plan, host, input, context, false), rules)
  // A token that was refused was not used: the request was not carried out.
  if (response.status === 401 && proofs.canRenew) {
    await response.body?.cancel()
    response = await send(await requestOf(plan, host, input, context, true), rules)
  }
  const { redact } = context
  if (response.ok) return await resultOf(response, { ...answers, redact })
  const error = await errorOf(response, titleOf(operation), { pauseMs: pauseOf(response, host.clock), redact })
  if (response.status !== 401 || proofs.missing.length === 0) throw error
  throw new Error(
    `${error.message}\n(Nothing proves who calls: the application gave no "auth" for ${proofs.missing.join(', ')}.)`,
  )
}

async function requestOf(
  { operation, fields, proofs, servers }: OperationPlan,
  host: SourceHost,
  input: Input,
  { signal, key }: ToolContext,
  isRefused: boolean,
): Promise<Sending> {
  const { path, query, headers: given, cookies } = placed(operation.path, fields.parameters, input)
  const headers = new Headers({ accept: acceptOf(operation) })
  for (const [name, value] of given) setGiven(headers, name, value)
  if (fields.keyHeader !== undefined) headers.set(fields.keyHeader, keyFor(key))
  const body =
    fields.body === undefined || input[bodyKey] === undefined
      ? undefined
      : contentOf(fields.body, input[bodyKey], fields.schema)
  if (body !== undefined) headers.set('content-type', body.contentType)
  const secrets: string[] = []
  const jar = cookies.map(([name, value]) => `${name}=${value}`)
  const target = { headers, query: secrets, cookies: jar, hide: (texts: readonly string[]) => host.hide?.(texts) }
  await proofs.add(target, { isRefused, signal })
  if (jar.length > 0) setGiven(headers, 'cookie', jar.join('; '))
  const whole = [query, ...secrets].filter((part) => part !== '').join('&')
  return { method: operation.method, url: addressOf(servers[0]!, path, whole), headers, body: body?.body }
}

/** Sets a header to a value that a model wrote, which may contain characters not allowed in a header. */
function setGiven(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch (cause) {
    throw new Error(`${name} is sent as a header, which can hold neither line breaks nor characters beyond Latin-1.`, {
      cause,
    })
  }
}

/** Returns the `accept` header, which prefers JSON to the service's other types. */
const acceptOf = ({ operation }: ReadOperation): string => {
  const responses = Object.values(operation.responses ?? {}) as readonly { readonly content?: object }[]
  const types = new Set(responses.flatMap((response) => Object.keys(response?.content ?? {})))
  return types.size === 0 || types.has('application/json')
    ? 'application/json, */*;q=0.8'
    : `${[...types].join(', ')}, */*;q=0.5`
}

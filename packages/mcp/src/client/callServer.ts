import type { RequestOptions } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { z } from 'zod'
import type { AskingCall, Elicited } from './elicitation.ts'
import type { Server } from './server.ts'
import { callResultSchema, type CallResult } from './resultBlocks.ts'
import { traceparent } from './traceparent.ts'

/** One call of a tool, by the server's own name for it. */
export interface ServerCall {
  readonly name: string
  readonly schema: JsonSchema
  readonly input: unknown
  /** Name under which the model knows the tool. */
  readonly shown: string
  /** True if repeated calls with the same key take effect once. */
  readonly mayRepeat: boolean
  /** Address of the app that shows the tool's results. */
  readonly app?: string | undefined
}

/** Maximum delay of Node's timers. The actual limit is the tool's own, which stops while people are asked. */
const noTimeout = 2 ** 31 - 1
/** Minimum interval between reports of progress, in milliseconds. */
const progressMs = 100
const mostRounds = 10

/** Result with which a server asks for input before it continues a call, since 2026-07-28. */
const inputRequiredSchema = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string(), params: z.unknown() })).optional(),
  requestState: z.string().optional(),
})

type Context = Pick<ToolContext, 'key' | 'signal' | 'report' | 'ask'>
type Elicit = (request: unknown, call: AskingCall) => Promise<Elicited>

/** Calls a tool. Rejects with the SDK's error. */
export async function callServer(
  { client }: Server,
  { name, schema, input }: ServerCall,
  context: Context,
  elicit: Elicit,
  now: () => number,
): Promise<CallResult> {
  const options: RequestOptions = {
    signal: context.signal,
    timeout: noTimeout,
    onprogress: progressTo(context, now),
    allowInputRequired: true,
  }
  const meta = { 'escapement/key': context.key, ...(await traceparent()) }
  // Fields that the server wants as headers too are put there by the SDK's own method only.
  const isMirrored = client.getProtocolEra() === 'modern' && JSON.stringify(schema).includes('"x-mcp-header"')
  let more = {}
  for (let round = 0; round < mostRounds; round += 1) {
    const params = { name, arguments: input as { [name: string]: unknown }, _meta: meta, ...more }
    const toolDefinition = { name, inputSchema: { ...schema, type: 'object' as const } }
    const result: unknown = isMirrored
      ? await client.callTool(params, { ...options, toolDefinition })
      : await client.request({ method: 'tools/call', params }, callResultSchema, options)
    const wanted = inputRequiredSchema.safeParse(result)
    if (!wanted.success) return callResultSchema.parse(result)
    const { inputRequests = {}, requestState } = wanted.data
    const inputResponses: { [id: string]: Elicited } = {}
    for (const [id, { method, params: request }] of Object.entries(inputRequests)) {
      if (method !== 'elicitation/create') throw new Error(`it wants ${method}, which is refused`)
      inputResponses[id] = await elicit(request, context)
    }
    more = { inputResponses, ...(requestState === undefined ? {} : { requestState }) }
  }
  throw new Error(`it asked for input ${mostRounds} times in one call`)
}

/** Returns a function that reports progress, at most ten times a second. */
export function progressTo(
  { report }: Pick<Context, 'report'>,
  now: () => number,
): NonNullable<RequestOptions['onprogress']> {
  let last = -Infinity
  return ({ progress, total, message }) => {
    if (now() - last < progressMs) return
    last = now()
    report({ progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) })
  }
}

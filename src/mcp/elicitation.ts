import { z } from 'zod'
import type { ToolContext } from '../actors/tools/defineTool.ts'
import { hasCode, messageOf } from '../protocol/errors.ts'
import type { Elicited } from './server.ts'

/** A call that a server may ask people something for. */
export interface AskingCall {
  readonly ask: ToolContext['ask']
  readonly signal: AbortSignal
}

const requestSchema = z.union([
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.looseObject({
    mode: z.literal('form').optional(),
    message: z.string(),
    requestedSchema: z.looseObject({ type: z.literal('object') }),
  }),
])

/** Puts what a server asks to people, as a question of the call in which it asks. Never rejects. */
export async function elicit(
  server: string,
  request: unknown,
  { ask, signal }: AskingCall,
  debug: (message: string) => void,
): Promise<Elicited> {
  const read = requestSchema.safeParse(request)
  if (!read.success) {
    debug(`it asked in a way that is not understood: ${read.error.message}`)
    return { action: 'decline' }
  }
  const who = `The MCP server "${server}" asks: ${read.data.message}`
  try {
    if (read.data.mode === 'url') {
      const isDone = await ask(
        z.boolean(),
        `${who}\nOpen this address only if you trust it: ${read.data.url}\nHave you done it?`,
      )
      return { action: isDone ? 'accept' : 'decline' }
    }
    const form = z.fromJSONSchema(withTitles(read.data.requestedSchema) as z.core.JSONSchema.JSONSchema)
    const content = (await ask(form, who)) as NonNullable<Elicited['content']>
    return { action: 'accept', content }
  } catch (thrown) {
    if (signal.aborted) return { action: 'cancel' }
    if (!hasCode(thrown, 'QUESTION_DENIED')) debug(`its question could not be asked: ${messageOf(thrown)}`)
    return { action: 'decline' }
  }
}

interface Field {
  readonly enum?: readonly unknown[]
  readonly enumNames?: unknown
  readonly description?: unknown
}

/** Choices of the older form have their titles in a list beside them, which no question shows: the description names them. Pure. */
function withTitles(schema: { readonly [name: string]: unknown }): object {
  const { properties } = schema
  if (typeof properties !== 'object' || properties === null) return schema
  const fields = Object.entries(properties as { readonly [name: string]: Field }).map(([name, field]) => {
    if (!Array.isArray(field.enum) || !Array.isArray(field.enumNames)) return [name, field]
    const { enumNames, ...rest } = field
    const titles = field.enum.map((value, index) => `${String(value)}: ${String((enumNames as unknown[])[index])}`)
    const description = [field.description, titles.join(', ')].filter((part) => typeof part === 'string').join(' ')
    return [name, { ...rest, description }]
  })
  return { ...schema, properties: Object.fromEntries(fields) as object }
}

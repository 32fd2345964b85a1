import { z } from 'zod'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { whyCostly } from '../../../tools/src/foreign/costlySchema.ts'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { schemaCheck, type SchemaCheck } from '../../../schemas/src/schemaCheck.ts'
import { fieldsOf, isPart } from '../../../../src/protocol/checks/schemaParts.ts'
import { shownSchema, soundSchema } from '../../../schemas/src/soundSchema.ts'

/** Outcome of a form or an address that a server shows to a person. */
export interface Elicited {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: { readonly [name: string]: string | number | boolean | string[] }
}

/** A call for which a server may ask people a question. */
export interface AskingCall {
  readonly ask: ToolContext['ask']
  readonly signal: AbortSignal
  /** Id of the call's task. */
  readonly taskId?: string | undefined
}

const requestSchema = z.union([
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.looseObject({
    mode: z.literal('form').optional(),
    message: z.string(),
    requestedSchema: z.looseObject({ type: z.literal('object') }),
  }),
])

/** Puts a server's question to people, as a question of the call in which it asks. Never rejects. */
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
    const schema = withTitles(soundSchema(read.data.requestedSchema).schema)
    const check = schemaCheck(schema, { why: whyCostly })
    if (check.unchecked !== undefined) debug(`what people answer is checked by the server alone: ${check.unchecked}`)
    const answer = (await ask(formOf(schema, check), who)) as Answer
    return { action: 'accept', content: withDefaults(answer, schema) as NonNullable<Elicited['content']> }
  } catch (thrown) {
    if (signal.aborted) return { action: 'cancel' }
    if (!hasCode(thrown, 'QUESTION_DENIED')) debug(`its question could not be asked: ${messageOf(thrown)}`)
    return { action: 'decline' }
  }
}

/** Schemas for the formats of text that the protocol defines. */
const formats = lazily((): { readonly [format: string]: z.ZodType } => ({
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true, local: true }),
}))

type Answer = { readonly [name: string]: unknown }

/** Returns the schema of a question's answer. It is checked unless that could block the process: the server checks it itself. */
function formOf(schema: JsonSchema, { wrongIn }: SchemaCheck): z.ZodType {
  const fields = Object.entries(fieldsOf(schema)) as [string, Field][]
  const wrongInText = (answer: Answer): string | undefined => {
    const odd = fields.find(([name, { format = '' }]) => {
      const form = Object.hasOwn(formats(), format) ? formats()[format] : undefined
      return typeof answer[name] === 'string' && form?.safeParse(answer[name]).success === false
    })
    return odd && `${odd[0]}: it is no ${odd[1].format}`
  }
  return z
    .unknown()
    .check(({ value, issues }) => {
      const message = isPart(value) ? (wrongIn(withDefaults(value, schema)) ?? wrongInText(value)) : wrongIn(value)
      if (message !== undefined) issues.push({ code: 'custom', message, input: value })
    })
    .meta(shownSchema(schema))
}

/** Adds the server's defaults for fields that were not filled in. */
const withDefaults = (answer: Answer, schema: JsonSchema): Answer => ({
  ...Object.fromEntries(
    (Object.entries(fieldsOf(schema)) as [string, Field][]).flatMap(([name, field]) =>
      field.default === undefined ? [] : [[name, field.default]],
    ),
  ),
  ...answer,
})

interface Field {
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly enumNames?: unknown
  readonly description?: unknown
}

/** Returns a schema with titles of choices in the description. The older form lists titles separately, where no question shows them. Pure. */
function withTitles(schema: JsonSchema): JsonSchema {
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

import type { z } from 'zod'
import { describeIssues, messageOf } from '../errors.ts'
import type { JsonSchema } from '../ports/model.ts'
import { fromOutput } from './strictOutput.ts'

/** The value of an answer, or its fault as a sentence without its full stop. */
export type Answer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly wrong: string }

/** Reads a final answer that must be JSON of a schema: the text itself or its only fenced block, since models often fence JSON. Never throws. */
export function readAnswer(schema: z.ZodType, text: string): Answer {
  const json = readJson(text)
  if (json === undefined) return { ok: false, wrong: text.trim() === '' ? 'it is empty' : 'it is not JSON' }
  try {
    const result = schema.safeParse(fromOutput(json.value, writtenOf(schema)))
    if (result.success) return { ok: true, value: result.data }
    return { ok: false, wrong: `it does not fit the output schema: ${describeIssues(result.error)}` }
  } catch (thrown) {
    return { ok: false, wrong: `it could not be checked by the output schema: ${messageOf(thrown)}` }
  }
}

const written = new WeakMap<z.ZodType, JsonSchema>()

/** Returns a schema as it was before `outputSchema` converted it for models. */
function writtenOf(schema: z.ZodType): JsonSchema {
  const known = written.get(schema)
  if (known !== undefined) return known
  let json: JsonSchema = { type: 'object' }
  try {
    json = schema.toJSONSchema({ io: 'input' })
  } catch {
    // No agent was defined with it, so nothing was changed.
  }
  written.set(schema, json)
  return json
}

/** Returns the JSON of an answer, without a schema to check it; `undefined` if there is none. */
export const readJson = (text: string): { value: unknown } | undefined => parse(text) ?? parse(onlyBlock(text))

/** Returns the text that describes the shape of the answer to a model. Not every provider enforces a schema, and some reject one only when called. */
export const askForAnswer = (schema: JsonSchema): string =>
  `Your final answer must be JSON of this schema, and nothing but the JSON:\n${JSON.stringify(schema)}`

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const opening = /^[ \t]*```(?:json)?[ \t]*\r?$/i
const closing = /^[ \t]*```[ \t]*\r?$/

/**
 * Returns the content of the only fenced block; `''` if there are none or several, because one of several may be an example. No line of JSON can
 * begin with a fence, because its strings have no line breaks.
 */
function onlyBlock(text: string): string {
  const lines = text.includes('```') ? text.split('\n') : []
  const blocks: string[] = []
  let start: number | undefined
  for (const [at, line] of lines.entries()) {
    if (start === undefined) start = opening.test(line) ? at + 1 : undefined
    else if (closing.test(line)) {
      if (blocks.length === 1) return ''
      blocks.push(lines.slice(start, at).join('\n'))
      start = undefined
    }
  }
  return blocks[0] ?? ''
}

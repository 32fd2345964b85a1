import { z } from 'zod'
import { messageOf, RuntimeError } from '../protocol/errors.ts'
import type { JsonSchema, ModelSettings } from '../protocol/model.ts'
import { askForAnswer } from '../protocol/readAnswer.ts'

/**
 * The settings of every request of an agent whose final answer must match this schema.
 *
 * @throws RuntimeError `INVALID_DEFINITION` when the schema has no form in JSON.
 */
export function settingsOf(
  settings: ModelSettings | undefined,
  output: z.ZodType | undefined,
  label: string,
): ModelSettings {
  if (output === undefined) return Object.freeze({ ...settings })
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(output) as JsonSchema
    return Object.freeze({ ...settings, responseFormat: { type: 'json', schema, name: 'answer' } as const })
  } catch (thrown) {
    throw new RuntimeError('INVALID_DEFINITION', `${label}: output: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

/** The shape of the answer is also described in words, whatever the provider supports, so that all providers get the same request. */
export const systemOf = (instructions: string, { responseFormat }: ModelSettings): string =>
  [instructions, responseFormat === undefined ? '' : askForAnswer(responseFormat.schema)]
    .filter((part) => part !== '')
    .join('\n\n')

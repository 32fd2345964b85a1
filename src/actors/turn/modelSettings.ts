import { zodJson } from '../../protocol/checks/zodJson.ts'
import type { z } from 'zod'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { ModelSettings } from '../../protocol/ports/model.ts'
import { askForAnswer } from '../../protocol/checks/readOutput.ts'
import { outputSchema } from '../../protocol/checks/strictOutput.ts'

/**
 * Returns the settings of every request of an agent whose final answer must match this schema.
 *
 * @throws RuntimeError `INVALID_DEFINITION` if the schema has no form in JSON.
 */
export function settingsOf(
  settings: ModelSettings | undefined,
  output: z.ZodType | undefined,
  label: string,
): ModelSettings {
  if (output === undefined) return Object.freeze({ ...settings })
  try {
    const { $schema: _, ...written } = zodJson(output)
    const { schema, strict } = outputSchema(written)
    return Object.freeze({ ...settings, responseFormat: { type: 'json', schema, name: 'answer', strict } as const })
  } catch (thrown) {
    throw new RuntimeError('INVALID_DEFINITION', `${label}: output: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

/** Returns the system prompt. It describes the form of the answer in words, whatever the provider supports, so that all get the same request. */
export const systemOf = (instructions: string, { responseFormat }: ModelSettings): string =>
  [instructions, responseFormat === undefined ? '' : askForAnswer(responseFormat.schema)]
    .filter((part) => part !== '')
    .join('\n\n')

/** Returns the settings without a choice of tools that cannot be made: providers refuse such requests. `offered`: names of the tools. */
export function withPossibleChoice(settings: ModelSettings, offered: readonly string[]): ModelSettings {
  const { toolChoice, ...rest } = settings
  if (toolChoice === undefined) return settings
  const isPossible = typeof toolChoice === 'object' ? offered.includes(toolChoice.tool) : offered.length > 0
  return isPossible ? settings : rest
}

/** Returns the system prompt with the text that the agent's tool sources add. */
export const withAddendum = (system: string, addendum: string): string =>
  [system, addendum].filter((part) => part !== '').join('\n\n')

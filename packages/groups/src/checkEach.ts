import { createHash } from 'node:crypto'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { elsewhere, isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { isRemoteAgent } from '../../../src/actors/parts/remote/remoteEntry.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { isAgentId } from '../../../src/protocol/ids.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { Agent } from '../../../src/runtime/agents/agent.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { checkOptions, groupOptionsSchema } from './checkGroup.ts'
import type { EachOptions, EachPlace } from './eachTypes.ts'

const callable = (): z.ZodType => z.custom((value) => typeof value === 'function', 'give a function')

const optionsSchema = lazily(() =>
  groupOptionsSchema()
    .omit({ keep: true })
    .extend({
      prompt: callable().optional(),
      key: callable().optional(),
      concurrency: z.int().positive().optional(),
      budget: onlyFields({ costUsd: z.number().optional(), tokens: z.int().optional() }).optional(),
      retry: z.boolean().optional(),
    }),
)

/**
 * Returns the inputs of a batch with their places. Starts nothing.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`, `INVALID_ID`
 */
export function checkEach(
  runtime: AgentRuntime,
  definition: AgentDefinition,
  inputs: readonly unknown[],
  options: EachOptions,
): EachPlace[] {
  if (runtime instanceof Agent) throw new RuntimeError('INVALID_OPTION', 'each takes a runtime first, not an agent.')
  checkOptions('each', optionsSchema, runtime, options)
  if (isRemoteAgent(definition)) throw new RuntimeError('INVALID_DEFINITION', `each: ${elsewhere(definition)}.`)
  if (!isAgentDefinition(definition))
    throw new RuntimeError('INVALID_DEFINITION', 'each takes what defineAgent returns after the runtime.')
  if (!Array.isArray(inputs))
    throw new RuntimeError('INVALID_OPTION', 'each takes a list of inputs after the definition.')
  if (options.budget?.costUsd !== undefined && definition.pricing === null)
    throw new RuntimeError(
      'INVALID_OPTION',
      `each: budget.costUsd is set, but agent "${definition.name}" has no pricing, so every cost counts as 0.`,
    )
  return placesOf(definition.name, inputs, options)
}

function placesOf(name: string, inputs: readonly unknown[], { prompt, key = digestOf }: EachOptions): EachPlace[] {
  const before = new Map<string, number>()
  return inputs.map((input, index) => {
    const at = `each: input ${index + 1}`
    if (prompt === undefined && typeof input !== 'string')
      throw new RuntimeError('INVALID_OPTION', `${at} is no text: say with prompt what is asked of it.`)
    const given: unknown = key(input, index)
    const agentId = `${name}-${String(given)}`
    if ((typeof given !== 'string' && typeof given !== 'number') || given === '' || !isAgentId(agentId))
      throw new RuntimeError(
        'INVALID_ID',
        `${at} has the key ${shown(given)}, and so its agent the id ${shown(agentId)}.`,
      )
    const same = before.get(agentId)
    if (same !== undefined) {
      const why =
        key === digestOf ? 'are the same: leave one out, or give each a key' : `have the same key ${shown(given)}`
      throw new RuntimeError('INVALID_OPTION', `each: inputs ${same + 1} and ${index + 1} ${why}.`)
    }
    before.set(agentId, index)
    return { index, key: String(given), input, agentId }
  })
}

/**
 * Returns a name for an input from its contents.
 *
 * @throws RuntimeError `INVALID_OPTION` for values that JSON cannot hold
 */
function digestOf(input: unknown, index: number): string {
  const told = inJson(input)
  if (told === undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      `each: input ${index + 1} cannot be told in JSON: give a key that names it.`,
    )
  return createHash('sha256').update(told).digest('hex').slice(0, 24)
}

function inJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const shown = (value: unknown): string => inJson(value)?.slice(0, 200) ?? String(value)

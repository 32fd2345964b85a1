import { RuntimeError } from '../../../src/protocol/errors.ts'
import { isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { optionsOf } from '../../../src/actors/define/definedAgent.ts'
import { withoutUndefined } from '../../../src/actors/define/withoutUndefined.ts'

/** Options that replace an agent's own. */
export type AgentChanges = { readonly [O in keyof AgentOptions]?: AgentOptions[O] | undefined }

/**
 * The options that an agent was defined with.
 *
 * @throws RuntimeError `INVALID_OPTION` for a value that `defineAgent` did not return.
 */
export function givenOptions(definition: AgentDefinition): AgentOptions {
  const options = isAgentDefinition(definition) ? optionsOf(definition) : undefined
  if (options !== undefined) return options as AgentOptions
  throw new RuntimeError('INVALID_OPTION', 'Only what defineAgent returns can be defined again with other options.')
}

/**
 * Returns the same agent with some options changed; a value of `undefined` changes nothing. Parts
 * that depend on options are made anew, as by `defineAgent`.
 *
 * @throws RuntimeError `INVALID_DEFINITION`, as `defineAgent`; `INVALID_OPTION`
 */
export const redefine = (definition: AgentDefinition, changes: AgentChanges): AgentDefinition =>
  defineAgent({ ...givenOptions(definition), ...withoutUndefined(changes) } as AgentOptions)

import { z } from 'zod'
import { zodJson } from '../../../protocol/checks/zodJson.ts'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { applyPatch, type StateOp } from '../../../protocol/parts/state/patch.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import type { StateSettings } from './stateOptions.ts'

export const updateStateName = 'update_state'

/** Maximum number of changes that a model makes with one call. */
const mostChanges = 100
/** Maximum number of characters of the schema in the description. */
const mostSchemaChars = 4_000

/** Returns the tool with which a model changes the state of its agent. */
export function updateStateTool({ schema }: Pick<StateSettings, 'schema'>): Tool {
  const value = z.unknown().optional().describe('For add and replace.')
  const path = z
    .string()
    .describe('A JSON pointer, such as "/steps/0/done"; "/steps/-" is the place after the last element.')
  const op = z.enum(['add', 'replace', 'remove'])
  return asOwn(
    defineTool({
      name: updateStateName,
      description: `Change the state that you share with the application, by changes of RFC 6902. They are made together, or none of them.${form(schema)}`,
      effects: 'idempotent',
      input: onlyFields({ ops: z.array(onlyFields({ op, path, value })).min(1).max(mostChanges) }),
      run({ ops }, { state }) {
        state.update((now) => {
          const result = applyPatch(now, ops as readonly StateOp[])
          if (result.wrong !== undefined) throw new Error(`The state is unchanged: ${result.wrong}.`)
          return result.value
        })
        return 'The state is changed.'
      },
    }),
  )
}

/** Describes the form of the state as JSON Schema; empty if that is too long or not possible. */
function form(schema: z.ZodType): string {
  try {
    const { $schema: _, ...json } = zodJson(schema)
    const text = JSON.stringify(json)
    return text.length > mostSchemaChars ? '' : ` Its form, as JSON Schema: ${text}`
  } catch {
    return ''
  }
}

import { parseBy } from '../../../schemas/src/readJsonSchema.ts'
import type { Tool } from '../../../../src/actors/tools/defineTool.ts'
import { whyCostly } from '../../../tools/src/foreign/costlySchema.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { schemaCheck } from '../../../schemas/src/schemaCheck.ts'
import { shownSchema, soundSchema } from '../../../schemas/src/soundSchema.ts'

/** The check of a tool's arguments, and the schema that models are shown. */
export interface InputCheck {
  readonly parse: Tool['parse']
  readonly shown: JsonSchema
  /** Reason why only the server checks the arguments; missing if they are checked here. */
  readonly unchecked?: string
}

/** Compiles checks of JSON Schemas from elsewhere. Schemas that could block the process are left to the server. Equal schemas are compiled once. */
export class InputChecks {
  readonly #known = new Map<string, InputCheck>()

  of(schema: JsonSchema): InputCheck {
    const key = JSON.stringify(schema)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    // Lists that change for ever must not fill the memory.
    if (this.#known.size > 2_000) this.#known.clear()
    const check = schemaCheck({ ...schema, type: 'object' }, { why: whyCostly })
    const { unchecked } = check
    const shown = Object.freeze(shownSchema(soundSchema({ ...schema, type: 'object' }).schema))
    const made = { parse: parseBy(check), shown, ...(unchecked === undefined ? {} : { unchecked }) }
    this.#known.set(key, made)
    return made
  }
}

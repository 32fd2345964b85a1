import type * as Ajv from '@modelcontextprotocol/client/validators/ajv'
import { invalid, parseWith } from '../actors/tools/toolSchema.ts'
import { bareJson } from '../protocol/bareJson.ts'
import { whyCostly } from '../protocol/costlySchema.ts'
import { messageOf } from '../protocol/errors.ts'
import type { JsonSchema } from '../protocol/model.ts'
import type { Tool } from '../actors/tools/defineTool.ts'

type Check = (input: unknown) => string | undefined

/** What checks the arguments of a tool, and by what it is known. */
export interface InputCheck {
  readonly parse: Tool['parse']
  /** Why nothing is checked here, but only by the server. */
  readonly unchecked?: string
}

/**
 * Makes checks of JSON Schemas from elsewhere. By the SDK's ajv: `z.fromJSONSchema` refuses a few of them, and takes a branch of a choice that
 * names no type for one that anything fits. What ajv does not take, and what could hold the process, is left to the server. The same schema is read once.
 */
export class InputChecks {
  readonly #known = new Map<string, InputCheck>()
  #validator: Ajv.AjvJsonSchemaValidator | undefined

  async of(schema: JsonSchema): Promise<InputCheck> {
    const key = JSON.stringify(schema)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
    // Lists that change for ever must not fill the memory.
    if (this.#known.size > 2_000) {
      this.#known.clear()
      this.#validator = undefined
    }
    this.#validator ??= new AjvJsonSchemaValidator()
    // Of two schemas with the same id a validator knows only the first.
    const made = checkOf(schema, key.includes('"$id"') ? new AjvJsonSchemaValidator() : this.#validator)
    this.#known.set(key, made)
    return made
  }
}

const byServer = (unchecked: string): InputCheck => ({ ...checkedBy(() => undefined), unchecked })

function checkOf(schema: JsonSchema, validator: Ajv.AjvJsonSchemaValidator): InputCheck {
  const costly = whyCostly(schema)
  if (costly !== undefined) return byServer(costly)
  try {
    const check = validator.getValidator({ ...schema, type: 'object' })
    return checkedBy((input) => check(input).errorMessage)
  } catch (thrown) {
    return byServer(messageOf(thrown))
  }
}

/** The arguments go to the server as the model gave them: a schema's defaults are the server's to fill in. */
const checkedBy = (check: Check): InputCheck => ({
  parse: (input) =>
    parseWith(input, (value) => {
      if (typeof value !== 'object' || Array.isArray(value))
        return { ok: false, message: 'The arguments are not an object. Send one JSON object.' }
      const wrong = check(bareJson(value))
      return wrong === undefined ? { ok: true, value } : { ok: false, message: invalid(wrong) }
    }),
})

type Part = { readonly properties?: unknown; readonly required?: unknown }

const partsIn = (value: unknown): readonly Part[] => (Array.isArray(value) ? (value as readonly Part[]) : [])
const fieldsOf = ({ properties }: Part): object =>
  typeof properties === 'object' && properties !== null ? properties : {}

/**
 * A tool's schema as models get it. Providers refuse a request for a schema that is a choice at its top, so the fields of all choices are
 * shown together; the check of the arguments still knows which go together. Pure.
 */
export function shownSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _, allOf, anyOf, oneOf, not: _not, if: _if, then, else: otherwise, ...rest } = schema
  const all = partsIn(allOf)
  const parts = [
    ...all,
    ...partsIn(anyOf),
    ...partsIn(oneOf),
    ...partsIn([then, otherwise].filter((part) => typeof part === 'object')),
  ]
  const shown = { ...rest, type: 'object' }
  if (parts.length === 0) return shown
  const properties = Object.assign({}, ...parts.map(fieldsOf).toReversed(), fieldsOf(rest)) as object
  const required = [rest, ...all].flatMap((part) => (Array.isArray(part.required) ? (part.required as string[]) : []))
  return { ...shown, properties, ...(required.length === 0 ? {} : { required: [...new Set(required)] }) }
}

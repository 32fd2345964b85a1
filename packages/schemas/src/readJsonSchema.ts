import { isObject } from '../../../src/protocol/checks/isObject.ts'
import {
  invalid,
  objectSchema,
  parseWith,
  reader,
  type JsonSchemaInput,
  type Parsed,
  type ReadSchema,
} from '../../../src/actors/tools/toolSchema.ts'
import { warnProcess } from '../../../src/protocol/callbackBugs.ts'
import { namedBy } from '../../../src/protocol/checks/jsonPointer.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { schemaCheck, type SchemaCheck } from './schemaCheck.ts'
import { shownSchema, soundSchema } from './soundSchema.ts'

/** Returns a repaired schema for models, because invalid parts would make providers refuse every request. */
export function readJsonSchema({ jsonSchema, validate }: JsonSchemaInput<unknown>, label: string): ReadSchema {
  const { schema } = soundSchema(jsonSchema)
  const inputSchema = Object.freeze(shownSchema(objectSchema(withType(schema))))
  if (validate != null) return reader(inputSchema, validate)
  const check = schemaCheck(jsonSchema)
  // A definition is made before any logger.
  if (check.unchecked !== undefined)
    warnProcess(`${label}: some arguments are not checked, as ${check.unchecked}. ${remedy}`)
  return { inputSchema, parse: parseBy(check), finish: (value) => value }
}

const remedy = 'Mend the schema, or give a check beside it: { jsonSchema, validate }.'

/** Returns the type of a schema. If the schema refers to one of its own parts, as generators write it, that part has the type. */
function withType(schema: JsonSchema): JsonSchema {
  const { type, $ref } = schema
  const named = type === undefined && typeof $ref === 'string' ? namedBy($ref, schema)?.value : undefined
  return isObject(named) && 'type' in named ? { ...schema, type: named.type } : schema
}

/** Checks a model's arguments by JSON Schema, and passes them on unchanged. Defaults are filled in where the call is carried out. */
export const parseBy =
  (check: SchemaCheck) =>
  (input: unknown): Parsed =>
    parseWith(input, (value) => {
      const wrong = check.wrongIn(value)
      if (wrong !== undefined) return { ok: false, message: invalid(wrong) }
      if (isObject(value) && !Array.isArray(value)) return { ok: true, value }
      return { ok: false, message: 'The arguments are not an object. Send one JSON object.' }
    })

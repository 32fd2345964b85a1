import { z } from 'zod'
import { messageOf } from '../errors.ts'
import type { JsonSchema } from '../ports/model.ts'

/** Types without a form in JSON, with the types to use instead. */
const instead: Readonly<Record<string, string>> = {
  date: 'a date has no form in JSON: use z.iso.datetime(), which is text',
  bigint: 'a bigint has no form in JSON: use z.int(), or text',
  map: 'a Map has no form in JSON: use z.record(…)',
  set: 'a Set has no form in JSON: use z.array(…)',
  undefined: 'undefined has no form in JSON: make the field optional',
  void: 'undefined has no form in JSON: make the field optional',
  nan: 'NaN has no form in JSON: use z.number()',
  symbol: 'a symbol has no form in JSON: use z.enum([…])',
  function: 'a function has no form in JSON: leave it out',
  custom: 'z.custom and z.instanceof have no form in JSON: use a schema that says what may stand there',
  transform: 'what a transform gives has no form in JSON: use z.codec(…), or .pipe(…) with a schema of it',
}

/** Segments of a path in a JSON Schema that are not fields. */
const between: ReadonlySet<string | number> = new Set(['properties', 'anyOf', 'allOf', 'oneOf', 'prefixItems'])

const made = new WeakMap<z.ZodType, JsonSchema>()

/**
 * Returns the JSON Schema of the input of a zod schema, cached for each schema. The result must not be changed.
 * @throws Error that names the first field without a form in JSON, and the remedy
 */
export function zodJson(schema: z.ZodType): JsonSchema {
  const known = made.get(schema)
  if (known !== undefined) return known
  try {
    const json = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
    made.set(schema, json)
    return json
  } catch (thrown) {
    throw new Error(formless(schema) ?? messageOf(thrown), { cause: thrown })
  }
}

function formless(schema: z.ZodType): string | undefined {
  let found: string | undefined
  try {
    z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override({ zodSchema, path }) {
        const what = instead[(zodSchema as unknown as z.ZodType).def.type]
        if (what !== undefined) found = path.length === 0 ? what : `${fieldOf(path)}: ${what}`
      },
    })
  } catch {
    // It is wrong in another way, and that was said.
  }
  return found
}

/** Returns the field path, such as `when[].at`, of a part of a JSON Schema. */
function fieldOf(path: readonly (string | number)[]): string {
  let field = ''
  for (let at = 0; at < path.length; at += 1) {
    const word = path[at]!
    if (word === 'properties' && at + 1 < path.length) field += `${field === '' ? '' : '.'}${path[(at += 1)]}`
    else if (word === 'items' || word === 'additionalProperties') field += '[]'
    else if (!between.has(word) && typeof word === 'string') field += ` (${word})`
  }
  return field
}

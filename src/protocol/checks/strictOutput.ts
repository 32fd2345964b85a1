import { namedBy } from './jsonPointer.ts'
import type { JsonSchema } from '../ports/model.ts'
import { fieldsOf, isPart, type SchemaPart as Part } from './schemaParts.ts'

/** Schema of an answer in the form that providers accept. */
export interface OutputSchema {
  readonly schema: JsonSchema
  /** True if the schema follows the rules for strict output. Providers with strict output refuse any other schema. */
  readonly strict: boolean
}

/** Name of the field that wraps an answer that is not an object, because providers accept only objects. Answers are unlikely to use it themselves. */
const wrapper = 'final_answer'

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])
const isObjects = ({ type, $ref, anyOf, oneOf, allOf }: Part): boolean =>
  type === 'object' && [$ref, anyOf, oneOf, allOf].every((keyword) => keyword === undefined)

/**
 * Converts the schema of an answer for providers. The root is an object, every choice is `anyOf`, and every field is required where
 * possible. Optional fields may be `null`. It describes the input that a model writes. `fromOutput` reverses the changes. Pure.
 */
export function outputSchema(schema: JsonSchema): OutputSchema {
  const wrapped = isObjects(schema) ? schema : wrap(schema)
  const written = strictly(wrapped)
  return written === undefined ? { schema: wrapped, strict: false } : { schema: written, strict: true }
}

function wrap({ $defs, ...schema }: JsonSchema): JsonSchema {
  const root = '#/$defs/answer'
  const inner = aboutRoot(schema, root)
  const definitions = { ...(aboutRoot($defs ?? {}, root) as Part) }
  const isOwn = JSON.stringify([inner, definitions]).includes(`"${root}"`)
  if (isOwn) definitions['answer'] = inner
  return {
    type: 'object',
    properties: { [wrapper]: isOwn ? { $ref: root } : inner },
    required: [wrapper],
    additionalProperties: false,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
}

/** Rewrites references to the former root to point to its new place. */
function aboutRoot(value: unknown, root: string): unknown {
  if (Array.isArray(value)) return value.map((one) => aboutRoot(one, root))
  if (!isPart(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === '$ref' && inner === '#' ? root : aboutRoot(inner, root)]),
  )
}

const wordsOf = (text: string): readonly string[] => text.split(' ')

/** Keywords that the rules for strict output allow for a string, a number or a list. */
const kept: ReadonlySet<string> = new Set([
  ...wordsOf('type description enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...wordsOf('minItems maxItems'),
])
const formats: ReadonlySet<unknown> = new Set(wordsOf('date-time time date duration email hostname ipv4 ipv6 uuid'))
/** Keywords that are handled separately, or do not restrict a value. */
const elsewhere: ReadonlySet<string> = new Set([
  ...wordsOf('$schema $defs $ref anyOf oneOf allOf items properties required additionalProperties title'),
  ...wordsOf('default examples $comment deprecated readOnly writeOnly id $id'),
])
/** Keywords that restrict a value and may be described in words in the description instead. */
const spoken: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'pattern', 'format', 'uniqueItems'])

/** Returns the schema in strict form; `undefined` if the rules cannot express it. */
function strictly(schema: unknown): JsonSchema | undefined {
  if (!isPart(schema)) return undefined
  const { $ref, anyOf, oneOf, allOf, $defs } = schema
  if (typeof $ref === 'string') return { $ref }
  if (allOf !== undefined) {
    const [only, ...others] = listOf(allOf)
    const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'allOf'))
    return others.length === 0 && isPart(only) ? strictly({ ...rest, ...only }) : undefined
  }
  const written = ownWords(schema)
  const choices = anyOf ?? oneOf
  if (written === undefined || (anyOf !== undefined && oneOf !== undefined)) return undefined
  if (choices !== undefined) {
    const branches = each(listOf(choices))
    return branches === undefined ? undefined : { ...written, anyOf: branches }
  }
  const { type, enum: some } = schema
  if (type === 'array') {
    const items = strictly(schema['items'])
    return items === undefined || 'prefixItems' in schema ? undefined : { ...written, items }
  }
  if (type === 'object') return strictObject(schema, written, $defs)
  return type === undefined && some === undefined && !('const' in schema) ? undefined : written
}

function each(schemas: readonly unknown[]): readonly JsonSchema[] | undefined {
  const written = schemas.map(strictly)
  return written.every((one) => one !== undefined) ? written : undefined
}

/** Returns the schema's own keywords, without nested schemas. */
function ownWords(schema: Part): JsonSchema | undefined {
  const written: Record<string, unknown> = {}
  const words: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    // It says the same as the format.
    if (keyword === 'pattern' && formats.has(schema['format'])) continue
    if (kept.has(keyword) || (keyword === 'format' && formats.has(value)) || isPlainPattern(keyword, value))
      written[keyword] = value
    else if (spoken.has(keyword)) words[keyword] = value
    else if (!elsewhere.has(keyword)) return undefined
  }
  if (Object.keys(words).length === 0) return written
  const { description } = written
  const said = JSON.stringify(words)
  return { ...written, description: typeof description === 'string' ? `${description} ${said}` : said }
}

/** Returns true for a pattern without lookaround and other parts that providers do not support. */
const isPlainPattern = (keyword: string, value: unknown): boolean =>
  keyword === 'pattern' && typeof value === 'string' && !/\(\?[^:]|\\[1-9kpP]/.test(value)

function strictObject(schema: Part, written: JsonSchema, $defs: unknown): JsonSchema | undefined {
  const { additionalProperties = false } = schema
  if (additionalProperties !== false) return undefined
  const required = listOf(schema['required'])
  const properties: Record<string, JsonSchema> = {}
  for (const [name, field] of Object.entries(fieldsOf(schema))) {
    const one = strictly(field)
    if (one === undefined) return undefined
    properties[name] = required.includes(name) || takesNull(field) ? one : { anyOf: [one, { type: 'null' }] }
  }
  const names = Object.keys(isPart($defs) ? $defs : {})
  const definitions = each(names.map((name) => ($defs as Part)[name]))
  if (definitions === undefined) return undefined
  return {
    ...written,
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...(names.length === 0 ? {} : { $defs: Object.fromEntries(names.map((name, at) => [name, definitions[at]])) }),
  }
}

function takesNull(schema: unknown): boolean {
  if (!isPart(schema)) return schema !== false
  const { type, enum: some, anyOf, oneOf, $ref, allOf } = schema
  const choices = listOf(anyOf ?? oneOf)
  if (choices.length > 0) return choices.some(takesNull)
  if (type !== undefined) return listOf([type].flat()).includes('null')
  if (some !== undefined) return listOf(some).includes(null)
  if ('const' in schema) return schema['const'] === null
  return $ref === undefined && allOf === undefined
}

/** Unwraps an answer whose schema is not known. Pure. */
export const unwrapped = (value: unknown): unknown =>
  isPart(value) && Object.keys(value).join() === wrapper ? value[wrapper] : value

/** Converts an answer back to its own schema: unwrapped, and without `null` in optional fields that do not allow it. Pure. */
export function fromOutput(value: unknown, schema: JsonSchema): unknown {
  return withoutNulls(isObjects(schema) ? value : unwrapped(value), schema, schema)
}

function withoutNulls(value: unknown, part: unknown, root: JsonSchema): unknown {
  if (typeof value !== 'object' || value === null || !isPart(part)) return value
  const { $ref, anyOf, oneOf, allOf, items } = part
  if (typeof $ref === 'string') return withoutNulls(value, namedBy($ref, root)?.value, root)
  const choices = listOf(anyOf ?? oneOf)
  if (choices.length > 0)
    return withoutNulls(
      value,
      choices.find((one) => mayBe(value, one, root)),
      root,
    )
  if (listOf(allOf).length === 1) return withoutNulls(value, listOf(allOf)[0], root)
  if (Array.isArray(value)) return value.map((one) => withoutNulls(one, items, root))
  const fields = fieldsOf(part)
  const required = listOf(part['required'])
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const isAbsent = one === null && field !== undefined && !required.includes(name) && !takesNull(field)
      return isAbsent ? [] : [[name, withoutNulls(one, field, root)]]
    }),
  )
}

/** Returns true if a value may belong to a branch of a choice: a list, or an object with the branch's fields and fixed values. */
function mayBe(value: object, part: unknown, root: JsonSchema): boolean {
  if (!isPart(part)) return false
  if (typeof part['$ref'] === 'string') return mayBe(value, namedBy(part['$ref'], root)?.value, root)
  const inner = listOf(part['anyOf'] ?? part['oneOf'])
  if (inner.length > 0) return inner.some((one) => mayBe(value, one, root))
  if (Array.isArray(value)) return part['type'] === 'array'
  if (part['type'] !== 'object') return false
  const fields = fieldsOf(part)
  const given = value as Part
  return (
    listOf(part['required']).every((name) => Object.hasOwn(given, String(name))) &&
    Object.entries(given).every(([name, one]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (field === undefined) return false
      return !isPart(field) || !('const' in field) || field['const'] === one
    })
  )
}

import { namedBy } from '../../../src/protocol/checks/jsonPointer.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { fieldsOf, isPart, namedSchemas, type SchemaPart as Part } from '../../../src/protocol/checks/schemaParts.ts'

/** A valid JSON Schema 2020-12, and the places where the original was not: `/properties/a/required`. */
export interface SoundSchema {
  readonly schema: JsonSchema
  /** Places that were left out because they could not be read. Rewritten keywords of older drafts and of OpenAPI are not listed. */
  readonly mended: readonly string[]
}

/** Keywords that hold schemas, and the form in which they hold them. */
const holding: { readonly [keyword: string]: 'one' | 'list' | 'named' } = {
  ...each('one', 'items additionalProperties propertyNames contains not if then else contentSchema'),
  ...each('one', 'unevaluatedItems unevaluatedProperties additionalItems'),
  ...each('list', 'allOf anyOf oneOf prefixItems'),
  ...each('named', [...namedSchemas].join(' ')),
}

/** Allowed values of the other keywords. */
const shapes: { readonly [keyword: string]: (value: unknown) => boolean } = {
  ...each(
    isText,
    'title description $comment $schema $ref $dynamicRef $recursiveRef $recursiveAnchor format pattern contentEncoding contentMediaType',
  ),
  ...each(isFlag, 'deprecated readOnly writeOnly uniqueItems'),
  ...each(isCount, 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'),
  ...each(Number.isFinite, 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  examples: (value) => Array.isArray(value),
  enum: (value) => Array.isArray(value) && value.length > 0,
  multipleOf: (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
  $id: (value) => isText(value) && /^[^#]*#?$/.test(value),
  $anchor: (value) => isText(value) && /^[A-Za-z_][\w.-]*$/.test(value),
  $dynamicAnchor: (value) => isText(value) && /^[A-Za-z_][\w.-]*$/.test(value),
}

const types: ReadonlySet<unknown> = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'])

/** Maximum nesting of schemas, references not counted. */
const maxDepth = 100

function each<T>(value: T, keywords: string): { readonly [keyword: string]: T } {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, value]))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

const ofKeyword = <T>(table: { readonly [keyword: string]: T }, keyword: string): T | undefined =>
  Object.hasOwn(table, keyword) ? table[keyword] : undefined

/**
 * Converts a foreign schema to JSON Schema 2020-12, because providers refuse every request with a tool whose schema is invalid. Keywords of OpenAPI
 * 3.0 and older drafts are rewritten; parts that cannot be read are left out. Pure.
 */
export function soundSchema(schema: unknown): SoundSchema {
  const mended: string[] = []
  const sound = soundPart(schema, '', 0, mended)
  const whole = isPart(sound) ? sound : {}
  return { schema: withoutLost(whole, whole, '', mended) as JsonSchema, mended }
}

function soundPart(given: unknown, at: string, depth: number, mended: string[]): Part | boolean {
  if (typeof given === 'boolean' && depth > 0) return given
  if (!isPart(given) || depth > maxDepth) {
    mended.push(at || '/')
    return {}
  }
  const entries = Object.entries(inWordsOfToday(given, depth)).flatMap(([keyword, value]): [string, unknown][] => {
    const sound = soundValue(keyword, value, `${at}/${keyword}`, depth, mended)
    if (sound !== undefined) return [[keyword, sound]]
    mended.push(`${at}/${keyword}`)
    return []
  })
  return Object.fromEntries(entries)
}

/** Returns a valid value for a keyword; `undefined` if it cannot be read. */
function soundValue(keyword: string, value: unknown, at: string, depth: number, mended: string[]): unknown {
  const kind = ofKeyword(holding, keyword)
  const inner = (one: unknown, name: string | number): Part | boolean =>
    soundPart(one, `${at}/${name}`, depth + 1, mended)
  if (kind === 'one') return isPart(value) || isFlag(value) ? soundPart(value, at, depth + 1, mended) : undefined
  if (kind === 'list') return Array.isArray(value) && value.length > 0 ? value.map(inner) : undefined
  if (kind === 'named') return isPart(value) ? mapped(value, inner) : undefined
  if (keyword === 'type') return soundType(value)
  if (keyword === 'pattern' && isText(value)) return soundPattern(value)
  if (keyword === 'required') return namesIn(value)
  if (keyword === 'dependentRequired') return isPart(value) ? mapped(value, (names) => namesIn(names) ?? []) : undefined
  if (keyword === 'dependencies')
    return isPart(value) ? mapped(value, (one, name) => namesIn(one) ?? inner(one, name)) : undefined
  if (keyword === '$vocabulary') return undefined
  const fits = ofKeyword(shapes, keyword)
  return fits === undefined || fits(value) ? value : undefined
}

const mapped = (map: Part, change: (value: unknown, name: string) => unknown): Part =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value, name)]))

function soundType(type: unknown): unknown {
  if (isText(type)) return types.has(type.toLowerCase()) ? type.toLowerCase() : undefined
  if (!Array.isArray(type)) return undefined
  const known = [...new Set(type.filter((one) => types.has(one)))]
  return known.length === 0 ? undefined : known
}

/** Characters whose meaning a backslash changes. */
const meaning = /[\w^$\\.*+?()[\]{}|/-]/

/** Removes meaningless backslashes, because strict readers refuse `\\:`. */
function soundPattern(pattern: string): string {
  if (isUnicode(pattern)) return pattern
  const plain = pattern.replaceAll(/\\(.)/gs, (all, one: string) => (meaning.test(one) ? all : one))
  return isUnicode(plain) ? plain : pattern
}

function isUnicode(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode
  } catch {
    return false
  }
}

/** Returns each name once; `undefined` if the value is no list. */
const namesIn = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? [...new Set(value.filter(isText))] : undefined

/** Rewrites a part from the forms of drafts 3 to 7 and OpenAPI 3.0 into those of 2020-12. */
function inWordsOfToday(given: Part, depth: number): Part {
  const { nullable, items, additionalItems, ...rest } = given
  let part: Part = 'nullable' in given || Array.isArray(items) ? { ...rest } : given
  if (Array.isArray(items)) {
    const further = additionalItems === undefined ? {} : { items: additionalItems }
    part = { ...part, ...(items.length === 0 ? further : { prefixItems: items, ...further }) }
  } else if ('nullable' in given) part = { ...part, ...pick(given, 'items', 'additionalItems') }
  part = bounds(bounds(part, 'exclusiveMinimum', 'minimum'), 'exclusiveMaximum', 'maximum')
  part = withRequired(part, depth)
  return nullable === true && depth > 0 ? orNull(part) : part
}

const pick = (part: Part, ...keywords: readonly string[]): Part =>
  Object.fromEntries(keywords.flatMap((keyword) => (keyword in part ? [[keyword, part[keyword]]] : [])))

const without = (part: Part, ...keywords: readonly string[]): Part =>
  Object.fromEntries(Object.entries(part).filter(([keyword]) => !keywords.includes(keyword)))

/** Rewrites an exclusive bound of draft 4, where a flag beside the bound says that it is excluded. */
function bounds(part: Part, exclusive: string, plain: string): Part {
  if (!isFlag(part[exclusive])) return part
  const rest = without(part, exclusive)
  return part[exclusive] === true && typeof part[plain] === 'number'
    ? { ...without(rest, plain), [exclusive]: part[plain] }
    : rest
}

/** Rewrites required fields of draft 3, where a property itself says that it is required. */
function withRequired(part: Part, depth: number): Part {
  const own = isFlag(part['required']) && depth > 0 ? without(part, 'required') : part
  const { properties } = own
  if (!isPart(properties)) return own
  const said = Object.keys(properties).filter((name) => {
    const property = properties[name]
    return isPart(property) && property['required'] === true
  })
  if (said.length === 0) return own
  return { ...own, required: [...(namesIn(own['required']) ?? []), ...said] }
}

const besideChoices: readonly string[] = ['title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly']
const deciding: readonly string[] = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'const']

function orNull(part: Part): Part {
  if (deciding.some((keyword) => keyword in part)) {
    const rest = without(part, ...besideChoices)
    return { ...pick(part, ...besideChoices), anyOf: [rest, { type: 'null' }] }
  }
  const { type, enum: some } = part
  return {
    ...part,
    ...(type === undefined ? {} : { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(some) && !some.includes(null) ? { enum: [...(some as unknown[]), null] } : {}),
  }
}

/** Removes references to parts that do not exist. If a part has an address, references are resolved against it. */
function withoutLost(part: unknown, root: Part, at: string, mended: string[]): unknown {
  if (!isPart(part)) return part
  const entries = Object.entries(part).flatMap(([keyword, value]): [string, unknown][] => {
    const kind = ofKeyword(holding, keyword)
    const inner = (one: unknown, name: string | number): unknown =>
      withoutLost(one, root, `${at}/${keyword}/${name}`, mended)
    if (kind === 'one') return [[keyword, withoutLost(value, root, `${at}/${keyword}`, mended)]]
    if (kind === 'list') return [[keyword, (value as readonly unknown[]).map(inner)]]
    // Some `dependencies` are lists of names, which have no parts.
    if (kind === 'named' || keyword === 'dependencies') return [[keyword, mapped(value as Part, inner)]]
    if (keyword !== '$ref' || leadsTo(value as string, root)) return [[keyword, value]]
    mended.push(`${at}/$ref (${value as string})`)
    return []
  })
  return Object.fromEntries(entries)
}

function leadsTo(reference: string, root: Part): boolean {
  const found = namedBy(reference, root)
  if (found !== undefined) return isPart(found.value) || isFlag(found.value)
  // Names and addresses: whoever reads the schema knows them, or says that it does not.
  return !/^#(\/|$)/.test(reference) && (reference.startsWith('#') || JSON.stringify(root).includes('"$id"'))
}

const partsIn = (value: unknown): readonly Part[] => (Array.isArray(value) ? value.filter(isPart) : [])

/**
 * Returns a valid schema of a tool's arguments in the form for models. Providers refuse a schema whose root is a choice or a reference, so the fields
 * of all choices are shown together. The check of the arguments still uses the choices. Pure.
 */
export function shownSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _, $ref, allOf, anyOf, oneOf, not: _not, if: _if, then, else: otherwise, ...rest } = schema
  const all = [...partsIn(allOf), ...partsIn([isText($ref) ? namedBy($ref, schema)?.value : undefined])]
  const parts = [...all, ...partsIn(anyOf), ...partsIn(oneOf), ...partsIn([then, otherwise])]
  const shown = { ...rest, type: 'object' }
  if (parts.length === 0) return shown
  const properties = Object.assign({}, ...parts.map(fieldsOf).toReversed(), fieldsOf(rest)) as object
  const required = [rest, ...all].flatMap((part) => namesIn(part['required']) ?? [])
  return { ...shown, properties, ...(required.length === 0 ? {} : { required: [...new Set(required)] }) }
}

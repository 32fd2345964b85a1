import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'

/** Pattern of a whole number as text: as a number it would lose digits beyond 2^53. */
const pattern = '^-?[0-9]{1,20}$'
const isWhole = new RegExp(pattern)

/** True for a 64-bit number, which may also be given as text, in which no digit is lost. */
const isWide = ({ type, format, enum: some, const: one }: JsonSchema): boolean =>
  format === 'int64' && [type].flat().includes('integer') && some === undefined && one === undefined

type Schemas = { readonly [name: string]: unknown }

/** Schema keywords with subschemas that parts of the value must meet. Not those that choose one of several, which text could change. */
const followed: { readonly [keyword: string]: 'one' | 'list' | 'named' } = {
  properties: 'named',
  additionalProperties: 'one',
  items: 'one',
  prefixItems: 'list',
  allOf: 'list',
}

const kindOf = (keyword: string): 'one' | 'list' | 'named' | undefined =>
  Object.hasOwn(followed, keyword) ? followed[keyword] : undefined

/**
 * Takes large whole numbers as text wherever `jsonText` writes them as numbers: in a body, and in the `definitions` that nothing else
 * refers to, such as `others`. Pure.
 */
export function withWideText(
  body: JsonSchema | boolean,
  definitions: Schemas,
  others: unknown,
): { readonly body: JsonSchema | boolean; readonly definitions: Schemas } {
  const apart = new Set<string>()
  setApart(others, definitions, apart)
  for (const schema of [body, ...Object.values(definitions)]) setChosenApart(schema, definitions, apart)
  return {
    body: marked(body) as JsonSchema | boolean,
    definitions: Object.fromEntries(
      Object.entries(definitions).map(([name, schema]) => [name, apart.has(name) ? schema : marked(schema)]),
    ),
  }
}

/** Excludes all definitions that a value refers to. */
function setApart(value: unknown, definitions: Schemas, apart: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) setApart(one, definitions, apart)
  if (!isFields(value)) return
  for (const [key, inner] of Object.entries(value)) {
    const name = key === '$ref' ? nameIn(inner) : undefined
    if (name === undefined) setApart(inner, definitions, apart)
    else if (!apart.has(name)) {
      apart.add(name)
      setApart(definitions[name], definitions, apart)
    }
  }
}

const nameIn = (reference: unknown): string | undefined =>
  typeof reference === 'string' ? reference.slice('#/$defs/'.length) : undefined

function setChosenApart(schema: unknown, definitions: Schemas, apart: Set<string>): void {
  if (!isFields(schema)) return
  for (const [key, value] of Object.entries(schema)) {
    const kind = kindOf(key)
    if (kind === 'one') setChosenApart(value, definitions, apart)
    else if (kind !== undefined && typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) setChosenApart(one, definitions, apart)
    else if (key !== '$ref') setApart(value, definitions, apart)
  }
}

function marked(schema: unknown): unknown {
  if (!isFields(schema)) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, markedIn(kindOf(key), value)]))
  return isWide(copy) ? { pattern, ...copy, type: [...new Set([copy['type'], 'string'].flat())] } : copy
}

function markedIn(kind: 'one' | 'list' | 'named' | undefined, value: unknown): unknown {
  if (kind === 'one') return marked(value)
  if (kind === 'list' && Array.isArray(value)) return value.map(marked)
  if (kind !== 'named' || !isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, marked(one)]))
}

/** Writes a value as JSON. Text becomes a number where its schema accepts 64-bit numbers as text. Pure. */
export function jsonText(value: unknown, schema: unknown, definitions: Schemas): string {
  const schemas = [...applying(schema, definitions)]
  if (typeof value === 'string')
    return schemas.some(isWide) && isWhole.test(value) ? String(BigInt(value)) : JSON.stringify(value)
  if (Array.isArray(value)) {
    const of = (index: number): JsonSchema => ({
      allOf: schemas.flatMap(
        ({ prefixItems, items }) => (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items ?? [],
      ),
    })
    return `[${value.map((one, index) => jsonText(one, of(index), definitions)).join(',')}]`
  }
  if (!isFields(value)) return JSON.stringify(value) ?? 'null'
  const of = (name: string): JsonSchema => ({
    allOf: schemas.flatMap(({ properties, additionalProperties }) =>
      isFields(properties) && Object.hasOwn(properties, name) ? [properties[name]] : (additionalProperties ?? []),
    ),
  })
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${jsonText(one, of(name), definitions)}`).join(',')}}`
}

/** Yields the schemas that one value must meet. */
function* applying(schema: unknown, definitions: Schemas, seen = new Set<unknown>()): Generator<JsonSchema> {
  if (!isFields(schema) || seen.has(schema)) return
  seen.add(schema)
  yield schema
  const { $ref, allOf } = schema
  const name = nameIn($ref)
  if (name !== undefined) yield* applying(definitions[name], definitions, seen)
  if (Array.isArray(allOf)) for (const one of allOf) yield* applying(one, definitions, seen)
}

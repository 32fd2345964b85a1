import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

/** An object of a document, of which nothing is known. */
export type Json = { readonly [field: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A document from a path or an address, JSON or YAML. */
export async function documentAt(place: string): Promise<Json> {
  const text = /^https?:/.test(place) ? await (await fetch(place)).text() : await readFile(place, 'utf8')
  return objectOf(/^\s*\{/.test(text) ? JSON.parse(text) : parse(text))
}

function named(document: Json, reference: string): unknown {
  const steps = reference.slice(2).split('/')
  return steps.reduce<unknown>(
    (value, step) => objectOf(value)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  )
}

const left: ReadonlySet<string> = new Set(['example', 'examples', 'responses', 'callbacks'])

/** A value with what it refers to in place of its references; circles and what is very deep are `{}`. */
function inlined(document: Json, value: unknown, seen: readonly string[] = [], depth = 0): unknown {
  if (depth > 40) return {}
  if (Array.isArray(value)) return value.map((one: unknown) => inlined(document, one, seen, depth + 1))
  if (!isObject(value)) return value
  const { $ref } = value
  if (typeof $ref === 'string') {
    if (!$ref.startsWith('#/') || seen.includes($ref) || seen.length > 6) return {}
    return inlined(document, named(document, $ref), [...seen, $ref], depth + 1)
  }
  const entries = Object.entries(value).filter(([key]) => !left.has(key))
  return Object.fromEntries(entries.map(([key, one]) => [key, inlined(document, one, seen, depth + 1)]))
}

/** An operation with the parameters of its path, read without the product. */
export function operationAt(document: Json, path: string, method: string): Json {
  const item = objectOf(inlined(document, { ...objectOf(objectOf(document['paths'])[path]) }))
  const own = objectOf(item[method.toLowerCase()])
  const parameters = [...listOf(own['parameters']), ...listOf(item['parameters'])].map(objectOf)
  const isFirst = (one: Json, at: number): boolean =>
    parameters.findIndex((other) => other['name'] === one['name'] && other['in'] === one['in']) === at
  return { ...own, parameters: parameters.filter(isFirst), servers: own['servers'] ?? item['servers'] }
}

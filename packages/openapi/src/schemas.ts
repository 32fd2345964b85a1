import { parseBy } from '../../schemas/src/readJsonSchema.ts'
import { whyCostly } from '../../tools/src/foreign/costlySchema.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { schemaCheck } from '../../schemas/src/schemaCheck.ts'
import type { Tool } from '../../../src/actors/tools/defineTool.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'
import { below, DocumentProblem, resolve, target } from './references.ts'

/** Keywords that say nothing about a value but cost tokens. Vendor keywords, `x-…`, are dropped too. */
const dropped: ReadonlySet<string> = new Set([
  'discriminator',
  'xml',
  'example',
  'examples',
  'externalDocs',
  '$schema',
  '$comment',
])
const holdsSchema: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
])
const holdsSchemas: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const holdsNamed: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas'])

/** Maximum nesting of a schema without a reference. */
const maxDepth = 64

/**
 * Copies schemas from a document for one tool. Referenced schemas go to `$defs`, so that schemas that refer to
 * themselves stay finite. Properties that only the service writes are left out.
 */
export class SchemaCopy {
  readonly #document: unknown
  /** Names in `$defs`, by reference. */
  readonly #names = new Map<string, string>()
  readonly #definitions: Record<string, unknown> = {}

  constructor(document: unknown) {
    this.#document = document
  }

  /** Schemas referenced so far, by name. */
  get definitions(): { readonly [name: string]: unknown } {
    return this.#definitions
  }

  /** @throws DocumentProblem */
  of(schema: unknown, at: string, depth = 0): JsonSchema | boolean {
    if (typeof schema === 'boolean') return schema
    if (!isFields(schema)) throw new DocumentProblem(at, 'a schema is an object')
    if (depth > maxDepth) throw new DocumentProblem(at, `the schema is nested deeper than ${maxDepth} levels`)
    const copy: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      const place = below(at, key)
      if (dropped.has(key) || key.startsWith('x-')) continue
      if (key === '$ref') copy[key] = `#/$defs/${this.#define(value, at)}`
      else if (holdsSchema.has(key) && (isFields(value) || typeof value === 'boolean'))
        copy[key] = this.of(value, place, depth + 1)
      else if (holdsSchemas.has(key) && Array.isArray(value))
        copy[key] = value.map((one, index) => this.of(one, below(place, index), depth + 1))
      else if (holdsNamed.has(key) && isFields(value)) copy[key] = this.#named(value, place, depth)
      else copy[key] = value
    }
    const { required, properties } = schema
    if (Array.isArray(required) && isFields(properties)) {
      const kept = required.filter(
        (name) => !Object.hasOwn(properties, String(name)) || !this.#isReadOnly(properties[String(name)], at),
      )
      if (kept.length === 0) delete copy['required']
      else copy['required'] = kept
    }
    return copy
  }

  #named(schemas: { readonly [name: string]: unknown }, at: string, depth: number): object {
    const kept = Object.entries(schemas).filter(([, schema]) => !this.#isReadOnly(schema, at))
    return Object.fromEntries(kept.map(([name, schema]) => [name, this.of(schema, below(at, name), depth + 1)]))
  }

  #isReadOnly(schema: unknown, at: string): boolean {
    const { value } = resolve(this.#document, { value: schema, at })
    return isFields(value) && value['readOnly'] === true
  }

  /** Returns the name of a referenced schema, which is copied once. */
  #define(reference: unknown, at: string): string {
    const { value, at: place } = target(this.#document, reference, at)
    const known = this.#names.get(place)
    if (known !== undefined) return known
    const plain = (place.split('/').at(-1) ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'schema'
    let name = plain
    for (let n = 2; Object.hasOwn(this.#definitions, name); n += 1) name = `${plain}_${n}`
    this.#names.set(place, name)
    // Its name is taken before it refers to itself.
    this.#definitions[name] = true
    this.#definitions[name] = this.of(value, place)
    return name
  }
}

/** Returns the check of arguments. Schemas that could block the process, or cannot be read, are left to the service to check. */
export function checkOf(schema: JsonSchema): { readonly parse: Tool['parse']; readonly unchecked?: string } {
  const check = schemaCheck(schema, { why: whyCostly })
  const { unchecked } = check
  return { parse: parseBy(check), ...(unchecked === undefined ? {} : { unchecked }) }
}

import type { Json } from './reading.ts'
import { isObject, listOf, objectOf } from './reading.ts'

/** Texts in which something would be lost where they are not written as their place wants it. */
const awkward = ['a b/c', 'ü&x=1', '#h?q+p', "it's 100%"]

const ofFormat: { readonly [format: string]: string } = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  email: 'a@b.example',
  uri: 'https://ex.example/a?b=c&d=e',
  url: 'https://ex.example/a?b=c&d=e',
  hostname: 'ex.example',
  ipv4: '10.0.0.1',
  byte: 'aGk=',
  binary: 'data:image/png;base64,iVBORw0KGgo=',
}

/** Texts that patterns of services often want. */
const usual = [
  'ssh-ed25519 AAAA',
  ...'a abc ABC US USD en-US en_US 1 12345 0123456789 1.0 0.5 +15551234567 / /a * #aabbcc aabbcc 10.0.0.0/8'.split(' '),
  ...'2026-01 12:30 a:b a/b a@b.example https://ex.example 100m'.split(' '),
  'a'.repeat(24),
  'A'.repeat(24),
  'a'.repeat(32),
  'a'.repeat(40),
  'a'.repeat(64),
  `sha256:${'a'.repeat(64)}`,
  ...Object.values(ofFormat),
]

/** Makes arguments from the schema of a tool, as many of its fields as are worth a call. */
export class Samples {
  readonly #root: Json
  /** So many fields of an object are given, beside those that have to be. */
  readonly #most: number
  #next = 0

  constructor(schema: Json, most: number) {
    this.#root = schema
    this.#most = most
  }

  all(): Json {
    return this.#of(this.#root, 0) as Json
  }

  #of(given: unknown, depth: number): unknown {
    const schema = this.#flat(given, 0)
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return schema['enum'].find((value) => value !== null) ?? null
    const types = [schema['type']].flat().filter((type) => type !== 'null')
    switch (types[0] ?? guessed(schema)) {
      case 'integer':
      case 'number':
        return number(schema)
      case 'boolean':
        return true
      case 'array':
        return this.#list(schema, depth)
      case 'object':
        return this.#object(schema, depth)
      default:
        return this.#text(schema)
    }
  }

  /** One schema in place of a reference and of choices, of which the first is taken. */
  #flat(given: unknown, hops: number): Json {
    if (!isObject(given) || hops > 12) return {}
    const { $ref, allOf, anyOf, oneOf, ...own } = given
    if ([$ref, allOf, anyOf, oneOf].every((part) => part === undefined)) return own
    const named = typeof $ref === 'string' ? objectAt(this.#root, $ref) : {}
    const first = (choice: unknown) => listOf(choice).find((one) => !isObject(one) || one['type'] !== 'null') ?? {}
    const parts = [named, ...listOf(allOf), first(anyOf), first(oneOf)].map((part) => this.#flat(part, hops + 1))
    return parts.reduce(
      (sum, part) => ({
        ...part,
        ...sum,
        ...merged('properties', sum, part),
        required: [...new Set([...listOf(sum['required']), ...listOf(part['required'])])],
      }),
      own,
    )
  }

  #object(schema: Json, depth: number): Json {
    const { properties, required, additionalProperties } = schema
    const isRequired = new Set(listOf(required))
    const names = [...new Set([...Object.keys(objectOf(properties)), ...listOf(required).map(String)])]
    const taken = names
      .filter((name, at) => isRequired.has(name) || (depth < 3 && at < this.#most))
      .filter(() => depth < 8)
    const entries = taken.map((name): [string, unknown] => [name, this.#of(objectOf(properties)[name], depth + 1)])
    if (isObject(additionalProperties) && depth < 3)
      entries.push(['extra_k', this.#of(additionalProperties, depth + 1)])
    return Object.fromEntries(entries)
  }

  #list({ items, minItems, maxItems, uniqueItems }: Json, depth: number): readonly unknown[] {
    const most = typeof maxItems === 'number' ? maxItems : 2
    const count = Math.max(typeof minItems === 'number' ? minItems : 0, depth > 4 ? 0 : Math.min(2, most))
    const list = Array.from({ length: count }, () => this.#of(items ?? {}, depth + 1))
    return uniqueItems === true ? [...new Map(list.map((one) => [JSON.stringify(one), one])).values()] : list
  }

  #text({ format, pattern, contentMediaType, minLength, maxLength }: Json): string {
    const known = ofFormat[contentMediaType === undefined ? String(format) : 'binary']
    const text = known ?? awkward[this.#next++ % awkward.length]!
    const fitting = typeof pattern === 'string' ? fittingOf(pattern, text) : text
    const least = typeof minLength === 'number' ? minLength : 0
    return (fitting ?? text).padEnd(least, 'x').slice(0, typeof maxLength === 'number' ? maxLength : undefined)
  }
}

/** A text that fits a pattern: a usual one, or a word that stands in it. */
function fittingOf(pattern: string, text: string): string | undefined {
  const fits = expression(pattern)
  const written = pattern.split('|').map((one) => one.replaceAll(/[\^$()]|\.[*+]/g, ''))
  return [text, ...usual, ...written, ...pattern.split(/[^\w.-]+/)].find((one) => fits?.test(one))
}

function number({ minimum, exclusiveMinimum, maximum, multipleOf }: Json): number {
  const least = typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 3
  const fitting = Math.min(Math.max(least, 3), typeof maximum === 'number' ? maximum : Infinity)
  return typeof multipleOf === 'number' ? Math.ceil(fitting / multipleOf) * multipleOf : fitting
}

const guessed = (schema: Json): string =>
  'properties' in schema || isObject(schema['additionalProperties']) ? 'object' : 'items' in schema ? 'array' : 'string'

const merged = (field: string, one: Json, other: Json): Json =>
  isObject(one[field]) || isObject(other[field])
    ? { [field]: { ...(other[field] as object), ...(one[field] as object) } }
    : {}

function expression(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      // With other flags, or not at all.
    }
  }
  return undefined
}

/** Resolves a reference within a schema. */
function objectAt(root: Json, reference: string): unknown {
  const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return steps.reduce<unknown>((value, step) => {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(value) || Array.isArray(value) ? (value as Json)[key] : undefined
  }, root)
}

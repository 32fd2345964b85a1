import { compile, type Validator } from '@earendil-works/pi-schema'
import { messageOf } from './errors.ts'
import type { JsonSchema } from './model.ts'
import { fieldsOf, isPart, namedSchemas, type SchemaPart } from './schemaParts.ts'
import { soundSchema } from './soundSchema.ts'

/** The check of values by a JSON Schema. */
export interface SchemaCheck {
  /** The faults of a value, for a model: `a.b: expected string, got integer`; `undefined`: nothing. Never throws. */
  wrongIn(value: unknown): string | undefined
  /** Why nothing is checked, or which parts of the schema are not. */
  readonly unchecked?: string
}

/** That whoever carries a call out checks its arguments too. */
export interface CheckedElsewhere {
  /** Why a schema is not to be checked by here. */
  readonly why: (checked: JsonSchema) => string | undefined
}

/** So much of what is wrong is told. */
const maxTold = 20

/** Says nothing about a value. */
const annotations: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', '$comment'])

/**
 * Reads a JSON Schema of any draft. Whatever it cannot read is not checked, and `unchecked` says so. One of several (`oneOf`) is at least one of them, since
 * what documents mean is a choice; a `format` is a word about a value and checks nothing. With `elsewhere` required fields that have a `default` may be
 * left out, which is filled in there. Pure.
 */
export function schemaCheck(schema: JsonSchema, elsewhere?: CheckedElsewhere): SchemaCheck {
  const { schema: sound, mended } = soundSchema(schema)
  const odd: string[] = mended.length === 0 ? [] : [`what its schema says at ${mended.join(', ')} cannot be read`]
  const checked = asChecked(sound, odd, elsewhere !== undefined) as JsonSchema
  const costly = elsewhere?.why(checked)
  if (costly !== undefined) return { wrongIn: () => undefined, unchecked: costly }
  try {
    return { wrongIn: wrongBy(compile(checked)), ...(odd.length === 0 ? {} : { unchecked: odd.join('; ') }) }
  } catch (thrown) {
    return { wrongIn: () => undefined, unchecked: messageOf(thrown) }
  }
}

const wrongBy = (validator: Validator) => (value: unknown) => {
  try {
    if (validator.check(value)) return undefined
    return validator
      .errors(value)
      .slice(0, maxTold)
      .map(({ path, message }) => `${placeOf(path)}${message}`)
      .join('; ')
  } catch {
    // It refers to itself without end, or the value is nested very deep.
    return undefined
  }
}

const placeOf = (pointer: string): string =>
  pointer === '' ? '' : `${pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}: `

const values: ReadonlySet<string> = new Set(['enum', 'const'])

/** The schema as values are checked by it. `odd`: what is left out. `isFilled`: defaults are filled in later. */
function asChecked(part: unknown, odd: string[], isFilled: boolean): unknown {
  const inner = (one: unknown): unknown => asChecked(one, odd, isFilled)
  if (Array.isArray(part)) return part.map(inner)
  if (typeof part !== 'object' || part === null) return part
  const { oneOf, ...rest } = part as { readonly [keyword: string]: unknown }
  const entries = Object.entries(oneOf === undefined ? rest : atLeastOne(rest, oneOf)).flatMap(
    ([keyword, value]): [string, unknown][] => {
      if (annotations.has(keyword) || (keyword === 'pattern' && isOddPattern(value, odd))) return []
      if (values.has(keyword)) return [[keyword, value]]
      if (keyword === 'required' && isFilled) return [[keyword, withoutDefaults(value as readonly string[], rest)]]
      // Of a choice that has another name here.
      if (keyword === '$ref') return [[keyword, String(value).replaceAll('/oneOf/', '/anyOf/')]]
      if (!namedSchemas.has(keyword)) return [[keyword, inner(value)]]
      const named = Object.entries(value as object)
        .filter(([name]) => keyword !== 'patternProperties' || !isOddPattern(name, odd))
        .map(([name, schema]): [string, unknown] => [name, inner(schema)])
      return [[keyword, Object.fromEntries(named)]]
    },
  )
  return Object.fromEntries(entries)
}

const withoutDefaults = (required: readonly string[], part: object): readonly string[] => {
  const fields = fieldsOf(part as SchemaPart)
  return required.filter((name) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    return !isPart(field) || field['default'] === undefined
  })
}

const atLeastOne = ({ anyOf, allOf, ...rest }: { readonly [keyword: string]: unknown }, oneOf: unknown): object =>
  anyOf === undefined
    ? { ...rest, ...(allOf === undefined ? {} : { allOf }), anyOf: oneOf }
    : { ...rest, anyOf, allOf: [...((allOf ?? []) as readonly unknown[]), { anyOf: oneOf }] }

/** Not of this language, such as a group that Python names. */
function isOddPattern(pattern: unknown, odd: string[]): boolean {
  if (isPattern(String(pattern), 'u') || isPattern(String(pattern), '')) return false
  odd.push(`its pattern ${JSON.stringify(pattern)} is no regular expression of JavaScript`)
  return true
}

function isPattern(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}

import { compile, type ValidationError, type Validator } from '@earendil-works/pi-schema'
import { messageOf } from '../../../src/protocol/errors.ts'
import { TooManySteps } from './linearPattern.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { fieldsOf, isPart, namedSchemas, type SchemaPart } from '../../../src/protocol/checks/schemaParts.ts'
import { namesIn, SchemaPatterns } from './schemaPatterns.ts'
import { soundSchema } from './soundSchema.ts'

/** The check of values by a JSON Schema. */
export interface SchemaCheck {
  /** Returns the faults of a value, for a model: `a.b: expected string, got integer`; `undefined` if there are none. Never throws. */
  wrongIn(value: unknown): string | undefined
  /** Reason why nothing is checked, or a list of the parts of the schema that are not checked. */
  readonly unchecked?: string
}

/** Options for arguments that are also checked where the call is carried out. */
export interface CheckedElsewhere {
  /** Returns the reason why a schema is not used for checks here; `undefined` if it is used. */
  readonly why: (checked: JsonSchema) => string | undefined
}

/** Maximum number of reported faults. */
const maxTold = 20

/** Keywords that do not restrict a value. */
const annotations: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', '$comment', 'format'])

/**
 * Reads a JSON Schema of any draft. Unreadable parts are not checked, and `unchecked` names them. `oneOf` is checked as `anyOf`, since documents use
 * it for choices. `format` is only an annotation. Regular expressions are matched in linear time. With `elsewhere`, required fields with a `default`
 * may be missing, because the default is filled in later. Pure.
 */
export function schemaCheck(schema: JsonSchema, elsewhere?: CheckedElsewhere): SchemaCheck {
  const { schema: sound, mended } = soundSchema(schema)
  const odd: string[] = mended.length === 0 ? [] : [`what its schema says at ${mended.join(', ')} cannot be read`]
  const reading: Reading = { odd, patterns: new SchemaPatterns(), isFilled: elsewhere !== undefined, byPattern: false }
  const checked = asChecked(sound, reading) as JsonSchema
  const costly = elsewhere?.why(checked)
  if (costly !== undefined) return { wrongIn: () => undefined, unchecked: costly }
  const { patterns } = reading
  const forNames = (names: Iterable<string>): Validator =>
    compile(asChecked(sound, { ...reading, odd: [], names }) as JsonSchema, { formats: patterns.formats })
  try {
    const validator = forNames([])
    const wrongIn = wrongBy(reading, reading.byPattern ? (value) => forNames(namesIn(value)) : () => validator)
    return { wrongIn, ...(odd.length === 0 ? {} : { unchecked: odd.join('; ') }) }
  } catch (thrown) {
    return { wrongIn: () => undefined, unchecked: messageOf(thrown) }
  }
}

const wrongBy =
  ({ patterns, isFilled }: Reading, validatorOf: (value: unknown) => Validator) =>
  (value: unknown) => {
    patterns.begin()
    try {
      const validator = validatorOf(value)
      if (validator.check(value)) return undefined
      return validator.errors(value).slice(0, maxTold).map(told).join('; ')
    } catch (thrown) {
      // No other place checks the value.
      if (thrown instanceof TooManySteps && !isFilled)
        return 'a text is too long for the regular expressions of the schema'
      // It refers to itself without end, or the value is nested very deep.
      return undefined
    }
  }

const told = ({ path, keyword, message }: ValidationError): string => {
  const place = path === '' ? '' : `${path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}: `
  return place + (keyword === 'format' ? message.replace('expected format', 'expected to match') : message)
}

const values: ReadonlySet<string> = new Set(['enum', 'const'])

/** State of the reading of a schema. */
interface Reading {
  /** Parts that are not checked. */
  readonly odd: string[]
  readonly patterns: SchemaPatterns
  /** True if defaults are filled in later. */
  readonly isFilled: boolean
  /** Set where fields are named by patterns. */
  byPattern: boolean
  /** Names in the checked value that pattern fields may have; `undefined` before there is a value, which leaves such fields unchanged. */
  readonly names?: Iterable<string>
}

/** Returns the schema in the form used for checks. */
function asChecked(part: unknown, reading: Reading): unknown {
  const inner = (one: unknown): unknown => asChecked(one, reading)
  if (Array.isArray(part)) return part.map(inner)
  if (typeof part !== 'object' || part === null) return part
  const { oneOf, ...rest } = part as { readonly [keyword: string]: unknown }
  const entries = Object.entries(oneOf === undefined ? rest : atLeastOne(rest, oneOf)).flatMap(
    ([keyword, value]): [string, unknown][] => {
      if (annotations.has(keyword)) return []
      if (keyword === 'pattern') return isOddPattern(String(value), reading) ? [] : [['format', value]]
      if (values.has(keyword)) return [[keyword, value]]
      if (keyword === 'required' && reading.isFilled)
        return [[keyword, withoutDefaults(value as readonly string[], rest)]]
      // References into a choice, which has another name here.
      if (keyword === '$ref') return [[keyword, String(value).replaceAll('/oneOf/', '/anyOf/')]]
      if (!namedSchemas.has(keyword)) return [[keyword, inner(value)]]
      const named = Object.entries(value as object)
        .filter(([name]) => keyword !== 'patternProperties' || !isOddPattern(name, reading))
        .map(([name, schema]): [string, unknown] => [name, inner(schema)])
      return [[keyword, Object.fromEntries(named)]]
    },
  )
  return withNames(Object.fromEntries(entries), reading)
}

/** Returns a part with its pattern fields replaced by named fields. */
function withNames(part: SchemaPart, reading: Reading): SchemaPart {
  const { patternProperties, ...rest } = part
  if (!isPart(patternProperties)) return part
  reading.byPattern = true
  if (reading.names === undefined) return part
  return { ...rest, properties: reading.patterns.fields(fieldsOf(rest), patternProperties, reading.names) }
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

/** Returns true if a pattern is not a JavaScript expression (such as one with a Python-style named group), or cannot be matched in linear time. */
function isOddPattern(pattern: string, { patterns, odd }: Reading): boolean {
  const why = patterns.add(pattern)
  if (why !== undefined) odd.push(`its pattern ${JSON.stringify(pattern.slice(0, 60))} is not tried: ${why}`)
  return why !== undefined
}

import { namedBy } from '../../../../src/protocol/checks/jsonPointer.ts'
import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'

export interface Declarable {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  /** Schema of the tool's result; missing if it is unknown. */
  readonly returns?: JsonSchema
}

type Schema = { readonly [key: string]: unknown }

/** A type as text. `joined`: its parts are joined at the top, so that it may need parentheses. */
interface Type {
  readonly text: string
  readonly joined?: '|' | '&'
}

interface Limits {
  /** Maximum depth of nested schemas. */
  readonly depth: number
  /** Maximum number of fields of one object. */
  readonly fields: number
}

/** State of writing one schema. */
interface Writing {
  readonly root: JsonSchema
  readonly limits: Limits
  /** Number of schemas that may still be read: references can multiply them. */
  left: number
  /** References that are currently being written. */
  readonly open: Set<string>
  /** References that lead back to themselves, with their names and types. */
  readonly named: Map<string, { readonly name: string; text: string }>
}

const mostSchemas = 2_000
const mostDeclarationChars = 6_000
const mostValues = 40
const mostLiteralChars = 80
const mostKeyChars = 200
const mostLineChars = 80
const mostNoteChars = 300
const mostDescriptionChars = 1_000

/** Limits that are tried in turn until a declaration is short enough. */
const limits: readonly Limits[] = [
  { depth: 8, fields: 200 },
  { depth: 4, fields: 100 },
  { depth: 2, fields: 40 },
  { depth: 1, fields: 15 },
]

/**
 * Returns a tool as a TypeScript method with its description, as models read it: `look_up(input: { id: string })`. Constraints that a type cannot
 * express are left to the check of the arguments. No text of the schema is code: texts are in literals and comments. Bounded, never throws. Pure.
 */
export function declarationOf(
  { name, description, inputSchema, returns }: Declarable,
  maxChars = mostDeclarationChars,
): string {
  const head = comment(oneLine(description, mostDescriptionChars))
  const optional = listOf(inputSchema['required']).length === 0 ? '?' : ''
  for (const bounds of limits) {
    const { types, input } = written(inputSchema, bounds)
    const text = [...head, `${keyOf(name)}(input${optional}: ${input})${returned(returns, bounds)}`, ...types].join(
      '\n',
    )
    if (text.length <= maxChars) return text
  }
  return [...head, `${keyOf(name)}(input${optional}: Record<string, unknown>)`].join('\n')
}

/** Returns the type of a call's result. */
function returned(schema: JsonSchema | undefined, bounds: Limits): string {
  if (schema === undefined) return ''
  const { types, input } = written(schema, bounds)
  return `: Promise<${types.length === 0 ? input : 'unknown'}>`
}

/** Returns the type of the arguments, and the named types that it uses. */
function written(root: JsonSchema, bounds: Limits): { readonly types: readonly string[]; readonly input: string } {
  const writing: Writing = { root, limits: bounds, left: mostSchemas, open: new Set(), named: new Map() }
  const input = referred(writing, '#', 0).text
  return { types: Array.from(writing.named.values(), (one) => `type ${one.name} = ${one.text}`), input }
}

function typeOf(writing: Writing, schema: unknown, depth: number): Type {
  if (schema === false) return { text: 'never' }
  if (!isSchema(schema) || depth > writing.limits.depth || writing.left <= 0) return unknown
  writing.left -= 1
  const said = [
    ...(typeof schema['$ref'] === 'string' ? [referred(writing, schema['$ref'], depth)] : []),
    ...valuesOf(schema),
    ...['anyOf', 'oneOf'].flatMap((key) => choiceOf(writing, schema[key], depth)),
    ...listOf(schema['allOf']).map((one) => typeOf(writing, one, depth + 1)),
  ].filter(({ text }) => text !== unknown.text)
  const plain = said.length === 0 || isSchema(schema['properties']) ? [kindOf(writing, schema, depth)] : []
  const type = joined([...said, ...plain], '&')
  return schema['nullable'] === true ? joined([type, { text: 'null' }], '|') : type
}

/** Returns the type of a reference: written in place, or by name if it leads back to itself. */
function referred(writing: Writing, reference: string, depth: number): Type {
  const { named, open, root } = writing
  const known = named.get(reference)
  if (known !== undefined) return { text: known.name }
  if (open.has(reference)) {
    const name = nameFor(
      reference,
      Array.from(named.values(), (one) => one.name),
    )
    named.set(reference, { name, text: unknown.text })
    return { text: name }
  }
  const target = namedBy(reference, root)
  if (target === undefined) return unknown
  open.add(reference)
  const type = typeOf(writing, target.value, depth)
  open.delete(reference)
  const own = named.get(reference)
  if (own === undefined) return type
  if (type.text !== own.name) own.text = type.text
  return { text: own.name }
}

/** Returns the type of `const` or `enum`. */
function valuesOf(schema: Schema): readonly Type[] {
  if ('const' in schema) return [literal(schema['const'])]
  const values = schema['enum']
  if (!Array.isArray(values)) return []
  if (values.length <= mostValues) return [joined(values.map(literal), '|')]
  const kinds = [...new Set(values.map((value) => (value === null ? 'null' : wordFor(value))))]
  const such = inComment(oneLine(values.slice(0, mostValues).map(textOf).join(', '), mostNoteChars))
  return [joined([{ text: `${kinds.join(' | ')} /* one of ${values.length}, such as ${such} */` }], '|')].map(
    ({ text }) => (kinds.length > 1 ? { text, joined: '|' } : { text }),
  )
}

const choiceOf = (writing: Writing, choices: unknown, depth: number): readonly Type[] =>
  Array.isArray(choices)
    ? [
        joined(
          choices.map((one) => typeOf(writing, one, depth + 1)),
          '|',
        ),
      ]
    : []

/** Returns the type given by `type`, with its fields or items. */
function kindOf(writing: Writing, schema: Schema, depth: number): Type {
  const { type } = schema
  const kinds = Array.isArray(type) ? type : [type ?? (isSchema(schema['properties']) ? 'object' : undefined)]
  return joined(
    kinds.map((kind): Type => {
      switch (kind) {
        case 'string':
        case 'number':
        case 'boolean':
        case 'null':
          return { text: kind }
        case 'integer':
          return { text: 'number' }
        case 'array':
          return arrayOf(writing, schema, depth)
        case 'object':
          return objectOf(writing, schema, depth)
        default:
          return unknown
      }
    }),
    '|',
  )
}

function arrayOf(writing: Writing, { items, prefixItems, additionalItems }: Schema, depth: number): Type {
  const isOld = Array.isArray(items)
  const first = Array.isArray(prefixItems) ? prefixItems : isOld ? items : []
  const rest = isOld ? additionalItems : items
  const many = (): string => `${grouped(typeOf(writing, rest, depth + 1))}[]`
  if (first.length === 0) return { text: many() }
  const places = first.slice(0, writing.limits.fields).map((one) => typeOf(writing, one, depth + 1).text)
  return { text: `[${[...places, ...(rest === undefined || rest === false ? [] : [`...${many()}`])].join(', ')}]` }
}

function objectOf(writing: Writing, schema: Schema, depth: number): Type {
  const all = isSchema(schema['properties']) ? Object.entries(schema['properties']) : []
  const entries = all.filter(([key]) => key.length <= mostKeyChars).slice(0, writing.limits.fields)
  const required = new Set(listOf(schema['required']))
  const fields = entries.map(([key, field]) => ({
    note: noteOf(field),
    text: `${keyOf(key)}${required.has(key) ? '' : '?'}: ${typeOf(writing, field, depth + 1).text}`,
  }))
  const others = otherFields(writing, schema, depth, all.length > 0)
  if (all.length === 0) return others ?? { text: 'Record<string, never>' }
  const missing = all.length - entries.length
  const shown = inBraces(fields, missing === 0 ? [] : [`/* and ${missing} more */`])
  return others === undefined ? { text: shown } : joined([{ text: shown }, others], '&')
}

/** Returns the type of fields that have no name in the schema; `undefined` if there are none, or the schema says nothing about them. */
function otherFields(writing: Writing, schema: Schema, depth: number, hasNamed: boolean): Type | undefined {
  const patterns = isSchema(schema['patternProperties']) ? Object.values(schema['patternProperties']) : []
  const more = schema['additionalProperties']
  const said = [...patterns, ...(isSchema(more) ? [more] : [])].map((one) => typeOf(writing, one, depth + 1))
  if (said.length > 0) return { text: `Record<string, ${joined(said, '|').text}>` }
  return hasNamed || more === false ? undefined : { text: 'Record<string, unknown>' }
}

function inBraces(
  fields: readonly { readonly note: string; readonly text: string }[],
  rest: readonly string[],
): string {
  const short = `{ ${[...fields.map(({ text }) => text), ...rest].join('; ')} }`
  if (fields.every(({ note, text }) => note === '' && !text.includes('\n')) && short.length <= mostLineChars)
    return short
  const lines = [...fields.flatMap(({ note, text }) => [...comment(note), text]), ...rest]
  return `{\n${lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`).join('\n')}\n}`
}

/** Returns the description of a field, with constraints that its type cannot express. */
function noteOf(schema: unknown): string {
  if (!isSchema(schema)) return ''
  const { description, format, minimum, maximum, pattern } = schema
  const facts = [
    ...(typeof format === 'string' ? [format] : []),
    ...(typeof minimum === 'number' ? [`from ${minimum}`] : []),
    ...(typeof maximum === 'number' ? [`up to ${maximum}`] : []),
    ...(typeof pattern === 'string' ? [`/${pattern}/`] : []),
    ...('default' in schema ? [`default ${textOf(schema['default'])}`] : []),
  ].map((fact) => oneLine(fact, mostLiteralChars))
  const said = typeof description === 'string' ? oneLine(description, mostNoteChars) : ''
  return [said, ...(facts.length === 0 ? [] : [`(${facts.join(', ')})`])].filter((part) => part !== '').join(' ')
}

/** Returns the parts of a union or an intersection, without duplicates. */
function joined(types: readonly Type[], by: '|' | '&'): Type {
  const all = types.length > 1 && types.some(({ text }) => text === unknown.text) && by === '|' ? [unknown] : types
  const texts = [...new Set(all.map((type) => (all.length > 1 && type.joined !== by ? grouped(type) : type.text)))]
  const [only] = texts
  if (texts.length === 0) return by === '|' ? { text: 'never' } : unknown
  if (texts.length === 1) return all.length === 1 ? all[0]! : { text: only! }
  return { text: texts.join(` ${by} `), joined: by }
}

const unknown: Type = { text: 'unknown' }

const grouped = ({ text, joined: by }: Type): string => (by === undefined ? text : `(${text})`)

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Placeholder for a value that is nested too deeply to be written. */
const untold = '…'

/** Returns JSON without the line ends that JSON allows in texts. */
function textOf(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'null').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  } catch {
    return untold
  }
}

const wordFor = (value: unknown): string =>
  ['string', 'number', 'boolean'].includes(typeof value) ? typeof value : unknown.text

function literal(value: unknown): Type {
  const text = textOf(value)
  return { text: text.length > mostLiteralChars || text === untold ? wordFor(value) : text }
}

const keyOf = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : textOf(key))

const inComment = (text: string): string => text.replaceAll('*/', '*\\/')

const comment = (text: string): readonly string[] => (text === '' ? [] : [`/** ${inComment(text)} */`])

/** Returns a name for the type of a reference: its last part, made into an identifier. */
function nameFor(reference: string, taken: readonly string[]): string {
  const last = reference === '#' ? 'input' : reference.slice(reference.lastIndexOf('/') + 1)
  const plain = last.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, 40)
  const name = /^[A-Za-z]/.test(plain) ? plain[0]!.toUpperCase() + plain.slice(1) : `T${plain}`
  let free = name === 'Record' ? 'Record_' : name
  for (let n = 2; taken.includes(free); n++) free = `${name}${n}`
  return free
}

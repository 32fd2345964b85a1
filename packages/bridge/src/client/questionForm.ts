import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { choicesIn } from './quickAnswers.ts'

/** Form in which a person enters a value for a JSON Schema. */
export type QuestionForm =
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly values: readonly (string | number)[] }
  /** A text. `least` and `most` are numbers of characters. */
  | { readonly type: 'text'; readonly least?: number; readonly most?: number }
  | NumberForm
  | { readonly type: 'object'; readonly fields: readonly QuestionField[] }
  /** Any other value, typed as JSON. */
  | { readonly type: 'json' }

/** A number. `above` and `below` are exclusive limits. */
interface NumberForm {
  readonly type: 'number'
  readonly isWhole?: true
  readonly least?: number
  readonly most?: number
  readonly above?: number
  readonly below?: number
}

/** A field of an object; its value is never an object itself. */
export interface QuestionField {
  readonly name: string
  readonly form: Exclude<QuestionForm, { type: 'object' }>
  readonly isRequired: boolean
  readonly description: string
}

/** The typed value, or its fault. */
export type Typed = { readonly value: unknown } | { readonly problem: string }

/** Returns the form for a schema. Pure. */
export function formOf(schema: JsonSchema): QuestionForm {
  const form = simpleForm(schema)
  const { type, properties } = schema
  if (form.type !== 'json' || type !== 'object' || typeof properties !== 'object' || properties === null) return form
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : []
  const fields = Object.entries(properties as { readonly [name: string]: JsonSchema }).map(([name, field]) => ({
    name,
    form: simpleForm(field),
    isRequired: required.includes(name),
    description: typeof field['description'] === 'string' ? field['description'] : '',
  }))
  return fields.length === 0 ? form : { type: 'object', fields }
}

function simpleForm(schema: JsonSchema): QuestionField['form'] {
  const values = choicesIn(schema)
  if (values !== undefined) return { type: 'choice', values }
  switch (schema['type']) {
    case 'boolean':
      return { type: 'boolean' }
    case 'string':
      return { type: 'text', ...limitIn(schema, 'minLength', 'least'), ...limitIn(schema, 'maxLength', 'most') }
    case 'number':
    case 'integer':
      return {
        type: 'number',
        ...(schema['type'] === 'integer' ? { isWhole: true } : {}),
        ...limitIn(schema, 'minimum', 'least'),
        ...limitIn(schema, 'maximum', 'most'),
        ...limitIn(schema, 'exclusiveMinimum', 'above'),
        ...limitIn(schema, 'exclusiveMaximum', 'below'),
      }
    default:
      return { type: 'json' }
  }
}

/** Returns a limit of a schema under the name that forms use. The limits of all safe integers do not count. */
function limitIn<N extends string>(schema: JsonSchema, key: string, name: N): { readonly [K in N]?: number } {
  const limit = schema[key]
  if (typeof limit !== 'number' || Math.abs(limit) >= Number.MAX_SAFE_INTEGER) return {}
  return { [name]: limit } as { readonly [K in N]?: number }
}

/** Reads a text that a person typed. Pure. */
export function readTyped(form: QuestionForm, typed: string): Typed {
  const text = typed.trim()
  switch (form.type) {
    case 'text': {
      const { least = 0, most = Infinity } = form
      if (typed.length < least) return { problem: least === 1 ? 'empty' : `at least ${least} characters` }
      return typed.length > most ? { problem: `at most ${most} characters` } : { value: typed }
    }
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return { value: true }
      return /^(n|no|false)$/i.test(text) ? { value: false } : { problem: 'answer yes or no' }
    case 'number': {
      const value = Number(text)
      const problem = text === '' || !Number.isFinite(value) ? 'not a number' : wrongIn(form, value)
      return problem === undefined ? { value } : { problem }
    }
    case 'choice': {
      const value = form.values.find((one) => String(one) === text) ?? form.values[Number(text) - 1]
      return value === undefined ? { problem: `choose one of ${form.values.join(', ')}` } : { value }
    }
    case 'object':
    case 'json':
      return readJson(text)
  }
}

function wrongIn({ isWhole, least, most, above, below }: NumberForm, value: number): string | undefined {
  if (isWhole === true && !Number.isInteger(value)) return 'not a whole number'
  if (least !== undefined && value < least) return `at least ${least}`
  if (most !== undefined && value > most) return `at most ${most}`
  if (above !== undefined && value <= above) return `more than ${above}`
  return below !== undefined && value >= below ? `less than ${below}` : undefined
}

/** Describes the values that a form accepts, in a few words; empty for any text. Pure. */
export function limitWords(form: QuestionForm): string {
  switch (form.type) {
    case 'boolean':
      return 'yes or no'
    case 'choice':
      return form.values.join(', ')
    case 'json':
    case 'object':
      return 'JSON'
    case 'text':
      return rangeWords(form, ' characters')
    case 'number': {
      const kind = form.isWhole === true ? 'a whole number' : 'a number'
      const range = [
        rangeWords(form),
        form.above === undefined ? '' : `more than ${form.above}`,
        form.below === undefined ? '' : `less than ${form.below}`,
      ]
      return [kind, ...range.filter((words) => words !== '')].join(', ')
    }
  }
}

function rangeWords({ least, most }: { readonly least?: number; readonly most?: number }, unit = ''): string {
  if (most === undefined) return least === undefined || (unit !== '' && least < 2) ? '' : `at least ${least}${unit}`
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`
}

/** The value of an object's fields, or the faults by field name. */
export type TypedFields = { readonly value: unknown } | { readonly problems: { readonly [name: string]: string } }

/** Reads the texts typed into the fields of an object. An empty field that is not required is left out. Pure. */
export function readFields(fields: readonly QuestionField[], typed: { readonly [name: string]: string }): TypedFields {
  const value: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const { name, form, isRequired } of fields) {
    const text = typed[name] ?? ''
    if (text === '' && !isRequired) continue
    const read = readTyped(form, text)
    if ('problem' in read) problems[name] = read.problem
    else value[name] = read.value
  }
  return Object.keys(problems).length === 0 ? { value } : { problems }
}

/** Returns the fields that a server's refusal names, each with its fault. Pure. */
export function refusedFields(
  fields: readonly Pick<QuestionField, 'name'>[],
  refusal: string,
): { readonly [name: string]: string } {
  const parts = refusal.split(/(?:^|[:;] )(?=[\w$.-]+: )/)
  return Object.fromEntries(
    fields.flatMap(({ name }) => {
      const said = parts.findLast((part) => part.startsWith(`${name}: `))
      return said === undefined ? [] : [[name, said.slice(name.length + 2).replace(/\.$/, '')]]
    }),
  )
}

function readJson(text: string): Typed {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: 'not JSON' }
  }
}

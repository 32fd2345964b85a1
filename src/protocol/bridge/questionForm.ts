import type { JsonSchema } from '../ports/model.ts'

/** Form in which a person enters a value for a JSON Schema. */
export type QuestionForm =
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly type: 'text' }
  | { readonly type: 'number' }
  | { readonly type: 'object'; readonly fields: readonly QuestionField[] }
  /** Any other value, typed as JSON. */
  | { readonly type: 'json' }

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
      return { type: 'text' }
    case 'number':
    case 'integer':
      return { type: 'number' }
    default:
      return { type: 'json' }
  }
}

const isChoice = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

/** Returns the choices of an `enum`, or of several `const`s. */
function choicesIn({ enum: values, anyOf }: JsonSchema): readonly (string | number)[] | undefined {
  const all = Array.isArray(values)
    ? (values as unknown[])
    : Array.isArray(anyOf)
      ? (anyOf as JsonSchema[]).map(({ const: value }) => value)
      : []
  return all.length > 0 && all.every(isChoice) ? all : undefined
}

/** Reads a text that a person typed. Pure. */
export function readTyped(form: QuestionForm, typed: string): Typed {
  const text = typed.trim()
  switch (form.type) {
    case 'text':
      return { value: typed }
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return { value: true }
      return /^(n|no|false)$/i.test(text) ? { value: false } : { problem: 'neither yes nor no' }
    case 'number': {
      const value = Number(text)
      return text === '' || !Number.isFinite(value) ? { problem: 'not a number' } : { value }
    }
    case 'choice': {
      const value = form.values.find((one) => String(one) === text) ?? form.values[Number(text) - 1]
      return value === undefined ? { problem: `none of ${form.values.join(', ')}` } : { value }
    }
    case 'object':
    case 'json':
      return readJson(text)
  }
}

/** Reads the texts typed into the fields of an object; an empty one that is not required is left out. Pure. */
export function readFields(fields: readonly QuestionField[], typed: { readonly [name: string]: string }): Typed {
  const value: Record<string, unknown> = {}
  for (const { name, form, isRequired } of fields) {
    const text = typed[name] ?? ''
    if (text === '' && !isRequired) continue
    const read = readTyped(form, text)
    if ('problem' in read) return { problem: `${name}: ${read.problem}` }
    value[name] = read.value
  }
  return { value }
}

function readJson(text: string): Typed {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: 'not JSON' }
  }
}

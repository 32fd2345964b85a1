import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { formOf, readTyped, type QuestionField } from '../client/questionForm.ts'

/** A form in the shape that clients of other protocols show: an object of plain fields. */
export interface AnswerForm {
  readonly schema: {
    readonly type: 'object'
    readonly properties: { readonly [name: string]: JsonSchema }
    readonly required: readonly string[]
  }
  /** Returns the entered value, without checking it against the schema. */
  read(content: { readonly [name: string]: unknown }): unknown
}

/** Name of the only field in a form for a value that is not an object. */
const alone = 'answer'

/** Returns the form in which people enter a value for a schema. Values that plain fields cannot hold are typed as JSON. Pure. */
export function answerForm(schema: JsonSchema): AnswerForm {
  const form = formOf(schema)
  if (form.type !== 'object') {
    const description = typeof schema['description'] === 'string' ? schema['description'] : ''
    const field = { name: alone, form, isRequired: true, description }
    return {
      schema: { type: 'object', properties: { [alone]: fieldSchema(field, schema) }, required: [alone] },
      read: (content) => valueOf(field, content[alone]) ?? null,
    }
  }
  const given = schema['properties'] as { readonly [name: string]: JsonSchema }
  const { fields } = form
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, given[field.name]!)])),
      required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    },
    read: (content) =>
      Object.fromEntries(
        fields.flatMap((field) => (field.name in content ? [[field.name, valueOf(field, content[field.name])]] : [])),
      ),
  }
}

/** Limits of a schema that a form keeps, by kind of field. */
const kept = {
  text: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  boolean: [],
  choice: [],
  json: [],
} as const

const formats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])

function fieldSchema({ form, description }: QuestionField, schema: JsonSchema): JsonSchema {
  const said = description === '' ? {} : { description }
  const limits = Object.fromEntries(kept[form.type].flatMap((key) => (key in schema ? [[key, schema[key]]] : [])))
  switch (form.type) {
    case 'boolean':
      return { type: 'boolean', ...said }
    case 'choice':
      return { type: 'string', enum: form.values.map(String), ...said }
    case 'number':
      return { type: schema['type'] === 'integer' ? 'integer' : 'number', ...limits, ...said }
    case 'text':
      return {
        type: 'string',
        ...limits,
        ...(formats.has(schema['format']) ? { format: schema['format'] } : {}),
        ...said,
      }
    case 'json':
      return { type: 'string', description: description === '' ? 'As JSON.' : `${description} (as JSON)` }
  }
}

/** Parses the text of a filled-in field; a text that cannot be parsed is returned unchanged. */
function valueOf({ form }: QuestionField, filled: unknown): unknown {
  if (typeof filled !== 'string' || (form.type !== 'json' && form.type !== 'choice')) return filled
  const read = readTyped(form, filled)
  return 'value' in read ? read.value : filled
}

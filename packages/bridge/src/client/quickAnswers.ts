import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'

const isChoice = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

/** Returns the choices of an `enum`, or of several `const`s; `undefined` if there are none. Pure. */
export function choicesIn({ enum: values, anyOf }: JsonSchema): readonly (string | number)[] | undefined {
  const all = Array.isArray(values)
    ? (values as unknown[])
    : Array.isArray(anyOf)
      ? (anyOf as JsonSchema[]).map(({ const: value }) => value)
      : []
  return all.length > 0 && all.every(isChoice) ? all : undefined
}

/** An answer that one button gives. */
export interface QuickAnswer {
  readonly label: string
  readonly value: unknown
}

/** Maximum number of choices, and of characters, for buttons. */
const mostQuick = { choices: 4, chars: 48 }

/** Returns the answers of a schema that allows only a few short ones; `undefined` if it allows others. Pure. */
export function quickAnswers(schema: JsonSchema): readonly QuickAnswer[] | undefined {
  if (schema['type'] === 'boolean')
    return [
      { label: 'No', value: false },
      { label: 'Yes', value: true },
    ]
  const choices = choicesIn(schema)
  if (choices === undefined || choices.length > mostQuick.choices) return undefined
  return choices.join('').length > mostQuick.chars
    ? undefined
    : choices.map((value) => ({ label: String(value), value }))
}

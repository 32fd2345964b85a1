import { z } from 'zod'
import { nearestWord } from './nearestWord.ts'

/** An object with these fields and no others; of each field that is not known a line says which may be meant. */
export function onlyFields<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape)
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? keys.map((key) => unknownField(key, names)).join('\n') : undefined,
  })
}

/** That there is no such field, and which of those that there are may be meant. Pure. */
export function unknownField(name: string, names: readonly string[]): string {
  const nearest = nearestWord(name, names)
  const hint = nearest === undefined ? `there are: ${names.join(', ')}` : `did you mean "${nearest}"?`
  return `"${name}" is not known; ${hint}`
}

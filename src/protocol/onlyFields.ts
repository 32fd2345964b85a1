import { z } from 'zod'
import { nearestWord } from './nearestWord.ts'

/** An object with these fields and no others; of each field that is not known a line says which may be meant. */
export function onlyFields<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape)
  const saidOf = (key: string): string => {
    const nearest = nearestWord(key, names)
    const hint = nearest === undefined ? `there are: ${names.join(', ')}` : `did you mean "${nearest}"?`
    return `"${key}" is not known; ${hint}`
  }
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(saidOf).join('\n') : undefined),
  })
}

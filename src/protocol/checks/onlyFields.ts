import { z } from 'zod'
import { unknownField } from './nearestWord.ts'

/** Schema of an object with exactly these fields. The error has a line for each unknown field, with similar names. */
export function onlyFields<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    // Reads the fields of the schema at that time: it may have been extended.
    error: ({ code, keys, inst }) =>
      code === 'unrecognized_keys' ? keys.map((key) => unknownField(key, fieldsOf(inst))).join('\n') : undefined,
  })
}

const fieldsOf = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])

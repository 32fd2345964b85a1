import { z } from 'zod'
import { lazily } from './lazily.ts'
import { checkedBy } from './errors.ts'

/** Maximum number of keys, and of characters of all metadata as JSON. */
const maxKeys = 32
const maxChars = 4_096
const keyPattern = /^[A-Za-z][\w.-]{0,63}$/

/** A few short named values that an application attaches to an agent for good, such as its owner. */
export const metadataSchema = lazily(() =>
  z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], 'give a string, a number or a boolean'))
    .refine(
      (metadata) => Object.keys(metadata).every((key) => keyPattern.test(key)),
      'a key has 1 to 64 letters, digits, ".", "_" or "-", a letter first',
    )
    .refine((metadata) => Object.keys(metadata).length <= maxKeys, `give at most ${maxKeys} keys`)
    .refine((metadata) => JSON.stringify(metadata).length <= maxChars, `give at most ${maxChars} characters as JSON`)
    .readonly(),
)
export type Metadata = z.infer<ReturnType<typeof metadataSchema>>

/** Returns true if metadata has every value of a filter. An empty filter matches everything. */
export function hasMetadata(metadata: Metadata | undefined, filter: Metadata): boolean {
  for (const key in filter) if (metadata?.[key] !== filter[key]) return false
  return true
}

/** Checks metadata, if given. @throws RuntimeError `INVALID_OPTION`, naming the function that received it */
export function checkMetadata(verb: string, metadata: unknown): void {
  if (metadata === undefined) return
  checkedBy(metadataSchema(), metadata, `${verb}: metadata`)
}

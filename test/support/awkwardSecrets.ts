import * as fc from 'fast-check'

/** Characters of a secret in a row that must never be shown. */
export const told = 8

/** Letters that occur nowhere else, so that every piece of a secret is known for one; between them such as need escapes. */
export const random = fc.string({
  unit: fc.constantFrom(...Array.from('qxzjkvwQXZJKVW')),
  minLength: 9,
  maxLength: 12,
})
export const inHeaders = fc.constantFrom('"', '\\', "'", '/', '%', '&', '+', '=', '{', '<', '%2F')
export const anywhere = fc.oneof(inHeaders, fc.constantFrom('é', '漢', '👋', ' ', '\n'))
export const secretWith = (awkward: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(random, awkward, random).map((parts) => parts.join(''))

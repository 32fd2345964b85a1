/** Returns an object that nests so many levels deep. */
export function nested(levels: number): object {
  let value: object = {}
  for (let level = 1; level < levels; level += 1) value = { a: value }
  return value
}

/**
 * Counts the UTF-16 units of a JSON value as text, without escapes: the lengths of strings and names, and an upper bound for all other values. A unit
 * takes at most six bytes in a log, so a value of up to some 32 million units fits into one line.
 */
export function jsonChars(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 24
  let chars = 2
  if (Array.isArray(value)) for (const item of value) chars += jsonChars(item) + 1
  else for (const name in value) chars += name.length + jsonChars((value as Record<string, unknown>)[name]) + 4
  return chars
}

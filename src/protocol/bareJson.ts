/**
 * A copy of plain JSON whose objects have what they name and nothing else: checks of schemas find `constructor` in any other object. Pure.
 */
export function bareJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bareJson)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null) as Record<string, unknown>
  for (const [name, inner] of Object.entries(value)) copy[name] = bareJson(inner)
  return copy
}

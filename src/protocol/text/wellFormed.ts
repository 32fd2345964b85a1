/**
 * Returns the data without unpaired surrogates in its texts; the same object if there are none. A text that was cut in the middle of an emoji is
 * valid JSON here, but a provider refuses every request with it. Pure.
 */
export const wellFormed = <T>(value: T): T => (isSound(value) ? value : repaired(value))

const looked = new WeakMap<object, object>()

/** Does the same for a value that never changes and is sent in many turns, such as an agent's tools. The result is cached. */
export function wellFormedOnce<T extends object>(value: T): T {
  const known = looked.get(value)
  if (known !== undefined) return known as T
  const sound = wellFormed(value)
  looked.set(value, sound)
  return sound
}

/** Returns true if no text in a value has an unpaired surrogate. Allocates nothing, since nearly all texts are valid. */
function isSound(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isSound)
  if (!isPlain(value)) return true
  for (const name in value) if (!name.isWellFormed() || !isSound(value[name])) return false
  return true
}

function repaired<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name.toWellFormed(), wellFormed<unknown>(inner)]),
  ) as T
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * The same data without halves of characters (unpaired surrogates) in its texts; the same object if there are none. A text that was cut in the
 * middle of an emoji is valid JSON for us and for whoever sent it, and a provider refuses every request that holds it. Pure.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) {
    const items = value.map(wellFormed)
    return items.some((item, index) => item !== value[index]) ? (items as T) : value
  }
  if (!isPlain(value)) return value
  const fields = Object.entries(value)
  const sound = fields.map(([name, inner]) => [name.toWellFormed(), wellFormed<unknown>(inner)] as const)
  const isSame = sound.every(([name, inner], index) => name === fields[index]![0] && inner === fields[index]![1])
  return isSame ? value : (Object.fromEntries(sound) as T)
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const looked = new WeakMap<object, object>()

/** The same of what never changes and is sent in many turns, such as the tools of an agent: it is looked through once. */
export function wellFormedOnce<T extends object>(value: T): T {
  const known = looked.get(value)
  if (known !== undefined) return known as T
  const sound = wellFormed(value)
  looked.set(value, sound)
  return sound
}

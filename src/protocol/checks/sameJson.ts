import { isObject } from './isObject.ts'

/** Returns true if two JSON values are equal, whatever the order of their fields. Pure. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (!isObject(one) || !isObject(other)) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, index) => sameJson(item, other[index]))
  }
  const entries = Object.entries(one)
  if (entries.length !== Object.keys(other).length) return false
  return entries.every(
    ([key, value]) => Object.hasOwn(other, key) && sameJson(value, (other as Record<string, unknown>)[key]),
  )
}

/** Deeper than any real data; a circular value gets here. */
const deepest = 500

/** Whether a value goes through JSON and comes back the same: no circle, function, `undefined` inside, NaN, BigInt or class. Never throws. */
export function isJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object': {
      if (value === null) return true
      if (depth > deepest) return false
      if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
      const prototype: unknown = Object.getPrototypeOf(value)
      if (prototype !== Object.prototype && prototype !== null) return false
      for (const key in value) if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false
      return true
    }
    default:
      return false
  }
}

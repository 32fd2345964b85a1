/** Nesting deeper than any real data, which only a circular value reaches. */
const deepest = 500

/**
 * Returns a deep copy of a value that JSON can hold. Values that JSON would drop are dropped (`undefined` in an object); `undefined` itself becomes
 * `{}`.
 * @throws TypeError for a value that JSON cannot hold: a cycle, a BigInt, a number that is not finite, a function or a symbol
 */
export function cloneJson(value: unknown): unknown {
  return value === undefined ? {} : clone(value, 0)
}

function clone(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      throw new TypeError(`JSON has no ${value}`)
    case 'object':
      return value === null ? null : cloneObject(value, depth)
    default:
      throw new TypeError(`JSON has no ${typeof value}`)
  }
}

function cloneObject(value: object, depth: number): unknown {
  if (depth > deepest) throw new TypeError('the value is circular or nested too deeply')
  if ('toJSON' in value && typeof value.toJSON === 'function') return clone(value.toJSON(), depth + 1)
  if (Array.isArray(value)) return value.map((item: unknown) => (item === undefined ? null : clone(item, depth + 1)))
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    // `__proto__` as an own key is data in JSON; assigning it would set the prototype.
    if (item === undefined) continue
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: clone(item, depth + 1),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else copy[key] = clone(item, depth + 1)
  }
  return copy
}

/** Maximum depth that is examined. No real state reaches it, only a circular value. */
const deepest = 200

/**
 * Returns the path of the first value that JSON would not restore, such as `context.since is a
 * Date`; `undefined` if there is none. Fields that are `undefined` count as missing. Pure.
 */
export function notJson(value: unknown, path: string, depth = 0): string | undefined {
  switch (typeof value) {
    case 'undefined':
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `${path} is ${value}`
    case 'object':
      return value === null ? undefined : notJsonObject(value, path, depth)
    default:
      return `${path} is a ${typeof value}`
  }
}

function notJsonObject(value: object, path: string, depth: number): string | undefined {
  if (depth === deepest) return `${path} is circular or nested too deeply`
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === null || prototype === Object.prototype || Array.isArray(value)
  if (!isPlain) return `${path} is a ${value.constructor?.name ?? 'class instance'}`
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  for (const [key, field] of entries) {
    const wrong = notJson(field, typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`, depth + 1)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** Returns a copy of a value after a round trip through JSON, without fields that are `undefined`; `undefined` itself stays. Pure. */
export const asJson = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T))

/** Freezes everything inside a plain value, and returns it. */
export function freezeInside<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner))
      Object.freeze(freezeInside(inner as object))
  }
  return value
}

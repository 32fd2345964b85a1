/** Freezes everything inside a plain value, and returns it. */
export function freezeInside<T extends object>(value: T): T {
  // No list of its values is made: this runs for every record.
  for (const name in value) {
    const inner: unknown = value[name]
    if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner)) Object.freeze(freezeInside(inner))
  }
  return value
}

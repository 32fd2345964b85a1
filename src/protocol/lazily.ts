/** A value created on first use and kept, for values that are expensive to create and often not needed. Not for `null` or `undefined`. */
export function lazily<T extends object | number>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Returns a function that creates a value on first use and keeps it, for costly values that are often not needed. Not for `null` or `undefined`. */
export function lazily<T extends object | number>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

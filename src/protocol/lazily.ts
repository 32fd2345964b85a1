/** A value that is made when it is first asked for, and kept: for what takes long to make and many never need. Not for `null` or `undefined`. */
export function lazily<T extends object | number>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

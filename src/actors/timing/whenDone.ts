/** Continues with a value at once, or when its promise resolves. A plain value costs no wait. */
export const whenDone = <T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<Awaited<R>> =>
  value instanceof Promise ? (value.then(next) as Promise<Awaited<R>>) : next(value)

/** Continues with a value at once, or when its promise resolves: a value that is already there costs no wait. */
export const whenDone = <T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<Awaited<R>> =>
  value instanceof Promise ? (value.then(next) as Promise<Awaited<R>>) : next(value)

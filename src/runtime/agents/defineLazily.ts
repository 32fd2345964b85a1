/** Gives an object an enumerable property whose value is made when it is first read; the object may be frozen by then. */
export function defineLazily<T extends object, K extends keyof T>(object: T, name: K, make: () => T[K]): void {
  let made: { readonly value: T[K] } | undefined
  Object.defineProperty(object, name, {
    enumerable: true,
    configurable: true,
    get: () => (made ??= { value: make() }).value,
  })
}

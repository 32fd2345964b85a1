/** Gives an object an enumerable property whose value is made when it is first read. */
export function defineLazily<T extends object, K extends keyof T>(object: T, name: K, make: () => T[K]): void {
  const property = { enumerable: true, configurable: true }
  Object.defineProperty(object, name, {
    ...property,
    get() {
      const value = make()
      Object.defineProperty(object, name, { ...property, value })
      return value
    },
  })
}

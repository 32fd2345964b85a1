type Method = (this: { readonly length: number }, ...given: readonly unknown[]) => unknown

const methods = ['map', 'filter', 'some', 'every', 'find', 'findIndex', 'flatMap', 'forEach', 'slice'] as const

/** Number of elements of arrays and maps that are iterated while `work` runs, which does not depend on a machine's speed. */
export function countedSteps(work: () => void): number {
  let steps = 0
  const undo: (() => void)[] = []
  const replace = (owner: object, name: PropertyKey, made: (before: Method) => Method): void => {
    const before = Object.getOwnPropertyDescriptor(owner, name)!
    Object.defineProperty(owner, name, { ...before, value: made(before.value as Method) })
    undo.push(() => Object.defineProperty(owner, name, before))
  }
  for (const name of methods)
    replace(Array.prototype, name, (before) => {
      return function (...given) {
        steps += this.length
        return Reflect.apply(before, this, given)
      }
    })
  for (const owner of [Array.prototype, Map.prototype])
    replace(owner, Symbol.iterator, (before) => {
      return function* () {
        const all = Reflect.apply(before, this, []) as Iterator<unknown>
        for (let next = all.next(); next.done !== true; next = all.next()) {
          steps += 1
          yield next.value
        }
      }
    })
  try {
    work()
  } finally {
    for (const each of undo) each()
  }
  return steps
}

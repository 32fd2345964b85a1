/**
 * Loaded before a program: counts what takes long, and writes it with the addresses of all loaded modules to standard error when the
 * process ends.
 */
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

/** Report of a program until it ended. */
export interface StartReport {
  readonly modules: readonly string[]
  readonly segmenters: number
  /** Texts in a normal form: what characters look like is looked up so. */
  readonly normalForms: number
  /** Tables of bytes made by a function. */
  readonly tables: number
  /** Made by functions of `z`, not by methods of other schemas. */
  readonly schemas: number
}

const modules: string[] = []
const counts = { segmenters: 0, normalForms: 0, tables: 0, schemas: 0 }

const zod = import.meta.resolve('zod')
/** Stands before zod, for whoever imports it by name. */
const counting = 'counting:zod'
const countingZod = `
  export * from '${zod}'
  import { z as made } from '${zod}'
  const counted = (make) => (...args) => {
    const value = make(...args)
    if (value?._zod !== undefined) globalThis.countSchema()
    return value
  }
  export const z = new Proxy(made, {
    get: (_, name) => (/^[a-z]/.test(name) && typeof made[name] === 'function' ? counted(made[name]) : made[name]),
  })
`
Object.assign(globalThis, { countSchema: () => (counts.schemas += 1) })

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'zod' ? { url: counting, shortCircuit: true } : nextResolve(specifier, context),
  load(url, context, nextLoad) {
    modules.push(url)
    return url === counting ? { format: 'module', source: countingZod, shortCircuit: true } : nextLoad(url, context)
  },
})

function countCalls(owner: object, name: string, count: keyof typeof counts): void {
  const called = Reflect.get(owner, name) as () => unknown
  const value = new Proxy(called, {
    apply(target, self, args) {
      counts[count] += 1
      return Reflect.apply(target, self, args)
    },
    construct(target, args) {
      counts[count] += 1
      return Reflect.construct(target, args) as object
    },
  })
  Object.defineProperty(owner, name, { value, configurable: true, writable: true })
}

countCalls(Intl, 'Segmenter', 'segmenters')
countCalls(String.prototype, 'normalize', 'normalForms')
countCalls(Uint8Array, 'from', 'tables')
process.once('exit', () => writeSync(2, JSON.stringify({ modules, ...counts } satisfies StartReport)))

/** The door every test goes through; `test/run.ts` runs what is registered here. */
export { assert } from './assert.ts'

/** What a case gets. */
export interface CaseContext {
  /** Aborted when the case has missed its deadline. */
  readonly signal: AbortSignal
  /** Runs `undo` after the case, passed or failed, last registered first; one that throws fails the case. */
  cleanup(undo: () => unknown): void
}

export type CaseBody = (context: CaseContext) => unknown

export interface CaseOptions {
  /** Milliseconds the case may take, and each of its cleanups; default 2,000. */
  readonly timeoutMs?: number
}

/** Registers a case; `title` is a sentence about behaviour, unique in its `describe`. */
export interface It {
  (title: string, body: CaseBody): void
  (title: string, options: CaseOptions, body: CaseBody): void
  /** Registers a case that is counted as skipped and not run. */
  skip(title: string, ...rest: [CaseBody?] | [CaseOptions, CaseBody]): void
}

export interface Case {
  readonly suite: string
  readonly title: string
  readonly timeoutMs: number
  /** `undefined`: skipped. */
  readonly body: CaseBody | undefined
}

const defaultTimeoutMs = 2_000

/** What one test file has registered. The runner opens one before it imports a file. */
export class Registry {
  readonly cases: Case[] = []
  /** Mistakes of the file itself, such as a group with no cases. */
  readonly faults: string[] = []
  static #current: Registry | undefined

  /** Makes a registry and lets `describe` write to it until the next one. */
  static open(): Registry {
    return (Registry.#current = new Registry())
  }

  static get current(): Registry {
    if (!Registry.#current) throw new Error('Run test files with `node test/run.ts <path filter>`.')
    return Registry.#current
  }
}

/** Registers a group of cases; `register` is synchronous. Throws when the file was not started by the runner. */
export function describe(name: string, register: (it: It) => void): void {
  const registry = Registry.current
  const before = registry.cases.length
  const titles = new Set<string>()
  let open = true

  const add = (title: string, timeoutMs: number, body: CaseBody | undefined): void => {
    if (!open) registry.faults.push(`"${name}": it("${title}") was called after describe had returned`)
    else if (titles.has(title)) registry.faults.push(`"${name}": two cases are called "${title}"`)
    else registry.cases.push({ suite: name, title, timeoutMs, body })
    titles.add(title)
  }
  const it = (title: string, ...rest: [CaseBody] | [CaseOptions, CaseBody]): void => {
    const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
    if (typeof body !== 'function') registry.faults.push(`"${name}": it("${title}") has no body`)
    else add(title, options.timeoutMs ?? defaultTimeoutMs, body)
  }
  const skip = (title: string): void => add(title, defaultTimeoutMs, undefined)

  const returned: unknown = register(Object.assign(it, { skip }))
  open = false
  if (returned instanceof Promise) {
    returned.catch(() => {})
    registry.faults.push(`"${name}": describe takes a synchronous function`)
  }
  if (registry.cases.length === before) registry.faults.push(`"${name}": describe has no cases`)
}

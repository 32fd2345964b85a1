/** The door every test goes through: uvu, with what it lacks around each case. A file runs under `npx uvu`, `node` and `test/run.ts`. */
import { suite } from 'uvu'
import { caseBook } from './caseBook.ts'
import { failureError, failureText } from './failureText.ts'
import { type CaseBody, type CaseOptions, runCase } from './runCase.ts'
import { takeStrays } from './strays.ts'

export { assert } from './assert.ts'
export type { CaseBody, CaseContext, CaseOptions } from './runCase.ts'

/** Registers a case; `title` is a sentence about behaviour, unique in its `describe`. */
export interface It {
  (title: string, body: CaseBody): void
  (title: string, options: CaseOptions, body: CaseBody): void
  /** Registers a case that is counted as skipped and not run; where the variable `CI` is set, one that fails. */
  skip(title: string, ...rest: [CaseBody?] | [CaseOptions, CaseBody]): void
}

const defaultTimeoutMs = 5_000

/** Tells whether the environment is that of a build server, where nothing may be skipped. */
export const isCi = ({ CI }: NodeJS.ProcessEnv = process.env): boolean =>
  CI !== undefined && CI !== '' && CI !== 'false'

/** Makes a group of cases a suite of uvu, and runs it; `register` is synchronous. Throws when cases are running already. */
export function describe(name: string, register: (it: It) => void): void {
  const book = caseBook()
  if (book.hasBegun) throw new Error(`describe("${name}") was called too late: cases are running`)
  const group = suite(name)
  const titles = new Set<string>()
  let isOpen = true

  const add = (title: string, { timeoutMs = defaultTimeoutMs, retries = 0 }: CaseOptions, body: CaseBody): void => {
    book.registered += 1
    group(title, async () => {
      if (!book.begin()) return
      const started = performance.now()
      const attempt = async () => [...(await runCase({ timeoutMs, body })), ...takeStrays()]
      const first = await attempt()
      let failures = first
      for (let left = retries; left > 0 && failures.length > 0; left -= 1) failures = await attempt()
      if (first.length > 0 && failures.length === 0)
        book.flaky.push({ title: `${name}: ${title}`, lines: first.flatMap(failureText) })
      book.ended.push({ suite: name, title, hasPassed: failures.length === 0, ms: performance.now() - started })
      if (failures.length > 0) throw failureError(failures)
    })
  }
  const addFault = (title: string, message: string): void =>
    add(title, {}, () => {
      throw Object.assign(new Error(message), { stack: '' })
    })
  const check = (title: string, body: unknown): body is CaseBody => {
    if (!isOpen) throw new Error(`"${name}": it("${title}") was called after describe had returned`)
    const isTwice = titles.has(title)
    titles.add(title)
    if (isTwice) addFault(title, `"${name}": two cases are called "${title}"`)
    else if (typeof body !== 'function') addFault(title, `"${name}": it("${title}") has no body`)
    else return true
    return false
  }

  const it = (title: string, ...rest: [CaseBody] | [CaseOptions, CaseBody]): void => {
    const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
    if (check(title, body)) add(title, options, body)
  }
  const skip = (title: string): void => {
    if (!check(title, skip)) return
    if (isCi()) addFault(title, `"${name}": "${title}" is skipped, and where CI is set nothing may be`)
    else {
      book.skipped.push({ suite: name, title })
      group.skip(title)
    }
  }

  const returned: unknown = register(Object.assign(it, { skip }))
  isOpen = false
  if (returned instanceof Promise) {
    returned.catch(() => {})
    addFault('is registered at once', `"${name}": describe takes a synchronous function`)
  }
  if (titles.size === 0) addFault('has cases', `"${name}": describe has no cases`)
  group.run()
}

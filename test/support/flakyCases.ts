import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testCache } from './testCache.ts'

/** A case that failed once and passed when it was tried again. */
export interface FlakyCase {
  readonly file: string
  /** Suite and title. */
  readonly title: string
  /** Lines of its failure. */
  readonly lines: readonly string[]
}

/** One line of the list. */
interface Entry extends FlakyCase {
  /** Time of the failure, in milliseconds since 1970. */
  readonly at: number
}

const days = 24 * 3_600_000
/** Time for which a flake of a case is remembered, in milliseconds. */
const rememberedMs = 14 * days
const mostFlakes = 1

export const flakyList = (): string => join(testCache(), 'flaky.jsonl')

function read(): readonly Entry[] {
  let text: string
  try {
    text = readFileSync(flakyList(), 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const entry = JSON.parse(line) as Entry
      return typeof entry.at === 'number' ? [entry] : []
    } catch {
      // A line that a full disk cut off.
      return []
    }
  })
}

/** Adds cases to the list. Throws where it cannot be written. */
export function rememberFlaky(cases: readonly FlakyCase[], now: number): void {
  if (cases.length === 0) return
  mkdirSync(testCache(), { recursive: true })
  appendFileSync(flakyList(), cases.map((each) => `${JSON.stringify({ at: now, ...each })}\n`).join(''))
}

/** The cases that were flaky more than once in the last 14 days, as `file > suite: title`, with how often. */
export function oftenFlaky(now: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { at, file, title } of read()) {
    if (now - at > rememberedMs) continue
    const name = `${file} > ${title}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return new Map([...counts].filter(([, count]) => count > mostFlakes))
}

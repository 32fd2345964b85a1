import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Milliseconds that test files took, by path. */
export type Times = Readonly<Record<string, number>>

const tableOf = (root: string): string => join(root, 'test', 'times.json')

/** The checked-in table; empty where there is none. */
export function readTimes(root: string): Times {
  try {
    return JSON.parse(readFileSync(tableOf(root), 'utf8')) as Times
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw thrown
  }
}

/** What a file takes: as the table says, or the median of the table. */
export function expectedMs(times: Times): (file: string) => number {
  const all = Object.values(times).toSorted((a, b) => a - b)
  const median = all[Math.floor(all.length / 2)] ?? 1_000
  return (file) => times[file] ?? median
}

/** Longest first; of the same length in the order they came in. */
export function longestFirst(files: readonly string[], times: Times): readonly string[] {
  const expected = expectedMs(times)
  return files.toSorted((a, b) => expected(b) - expected(a))
}

/** Two digits, so that the table changes with what it tells alone. */
const rounded = (ms: number): number => Number(Math.max(1, ms).toPrecision(2))

/** Writes the table with what was measured; keeps the other files that still exist. */
export function writeTimes(root: string, measured: Times, existing: readonly string[]): void {
  const before = readTimes(root)
  const times = existing.flatMap((file) => {
    const ms = measured[file] ?? before[file]
    return ms === undefined ? [] : [[file, rounded(ms)] as const]
  })
  writeFileSync(tableOf(root), `${JSON.stringify(Object.fromEntries(times), null, 2)}\n`)
}

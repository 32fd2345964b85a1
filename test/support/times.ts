import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testCache } from './testCache.ts'

/** Milliseconds that test files took, by path. */
export type Times = Readonly<Record<string, number>>

const table = (): string => join(testCache(), 'times.json')

/** Reads the durations that the last runs of this user measured; empty if there are none. */
export function readTimes(): Times {
  try {
    const read: unknown = JSON.parse(readFileSync(table(), 'utf8'))
    if (typeof read !== 'object' || read === null) return {}
    return Object.fromEntries(Object.entries(read).filter((entry): entry is [string, number] => entry[1] >= 0))
  } catch {
    // A table that is missing or broken is made anew.
    return {}
  }
}

/** Returns the expected duration of a file in milliseconds: that in the table, or the median of the table. */
export function expectedMs(times: Times): (file: string) => number {
  const all = Object.values(times).toSorted((a, b) => a - b)
  const median = all[Math.floor(all.length / 2)] ?? 1_000
  return (file) => times[file] ?? median
}

/** Sorts files by duration, longest first; equal ones keep their order. */
export function longestFirst(files: readonly string[], times: Times): readonly string[] {
  const expected = expectedMs(times)
  return files.toSorted((a, b) => expected(b) - expected(a))
}

/** Saves measured durations for the next run, without files that no longer exist. Throws if they cannot be written, as on a full disk. */
export function writeTimes(measured: Times, existing: readonly string[]): void {
  const known = { ...readTimes(), ...measured }
  const times = existing.flatMap((file) =>
    known[file] === undefined ? [] : [[file, Math.round(known[file])] as const],
  )
  mkdirSync(dirname(table()), { recursive: true })
  const draft = `${table()}.${process.pid}`
  writeFileSync(draft, JSON.stringify(Object.fromEntries(times)))
  renameSync(draft, table())
}

import { oneLine } from '../words/shortText.ts'
import type { OverviewRow } from './overview.ts'

/** A failure, a pause or a wait that several agents have in common. */
export interface Cause {
  /** Key that stays the same while the cause is the same. */
  readonly key: string
  readonly standing: 'failed' | 'paused' | 'waiting'
  readonly words: string
  /** Error message, or evidence of the loop, of the first agent with the cause. */
  readonly detail: string
  readonly rows: readonly OverviewRow[]
}

/** Number of waiting items, at agents of one definition, from which on they are one cause: each is its own decision. */
const leastWaiting = 5

/** Returns the message of an error, or the evidence of a loop; empty if there is none. Pure. */
export function detailOf({ of: { last } }: Pick<OverviewRow, 'of'>): string {
  const { error, reason } = last ?? {}
  return oneLine(error?.message ?? (reason?.type === 'stall' ? reason.evidence : ''))
}

/** Replaces numbers and ids in a message, which differ although the cause is the same. */
const alike = (text: string): string => text.replaceAll(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word))

/** Keys of failures by summary. A changed summary is a new object, so that of ten thousand only a few are computed again. */
const failures = new WeakMap<OverviewRow['of'], string>()

function failureKey(row: OverviewRow): string {
  const known = failures.get(row.of) ?? `${row.words} ${alike(detailOf(row))}`
  failures.set(row.of, known)
  return known
}

function keyOf(row: OverviewRow): string | undefined {
  const { standing, words, pending, isSession } = row
  if (isSession) return undefined
  if (pending !== null) return `waiting ${row.of.definition}`
  if (standing === 'failed') return failureKey(row)
  return standing === 'paused' ? words : undefined
}

/** Returns the causes for which several agents stand still, in the order of the rows. Pure. */
export function causesOf(rows: readonly OverviewRow[]): readonly Cause[] {
  const found = new Map<string, Cause & { readonly rows: OverviewRow[] }>()
  for (const row of rows) {
    const key = keyOf(row)
    const { standing, words } = row
    if (key === undefined || (standing !== 'failed' && standing !== 'paused' && standing !== 'waiting')) continue
    const cause = found.get(key)
    if (cause === undefined) found.set(key, { key, standing, words, detail: detailOf(row), rows: [row] })
    else cause.rows.push(row)
  }
  return [...found.values()].filter(
    ({ standing, rows: all }) => all.length >= (standing === 'waiting' ? leastWaiting : 2),
  )
}

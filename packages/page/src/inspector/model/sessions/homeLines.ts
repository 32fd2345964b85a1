import { causesOf, type Cause } from './causes.ts'
import type { Group, Order, OverviewRow } from './overview.ts'

/** A line of the overview: a heading, a cause with its rows below while it is open, a row, or the button that reads more. */
export type Line =
  | { readonly type: 'heading'; readonly group: Group; readonly count: number }
  | { readonly type: 'cause'; readonly cause: Cause; readonly isOpen: boolean }
  | { readonly type: 'row'; readonly row: OverviewRow; readonly isBelow: boolean }
  | { readonly type: 'more'; readonly count: number }

export interface LineOptions {
  readonly order: Order
  /** Keys of the causes that a person opened, or closed if they are open by default. */
  readonly turned: ReadonlySet<string>
  /** Number of sessions that are not read yet. */
  readonly rest: number
}

/** Returns true if a cause is open. Waiting items are open by default, as each needs its own decision. */
const isOpenIn = ({ key, standing }: Cause, turned: ReadonlySet<string>): boolean =>
  turned.has(key) !== (standing === 'waiting')

/** Returns the lines of the rows. Rows with one cause stand together, where the first of them is. Only the order of need has groups. Pure. */
export function linesOf(rows: readonly OverviewRow[], { order, turned, rest }: LineOptions): readonly Line[] {
  const lines: Line[] = []
  const counts = new Map<Group, number>()
  for (const { group } of rows) counts.set(group, (counts.get(group) ?? 0) + 1)
  const causes = new Map<OverviewRow, Cause>()
  if (order === 'need') for (const cause of causesOf(rows)) for (const row of cause.rows) causes.set(row, cause)
  const told = new Set<Cause>()
  let group: Group | undefined
  for (const row of rows) {
    if (order === 'need' && row.group !== group)
      lines.push({ type: 'heading', group: row.group, count: counts.get(row.group)! })
    group = row.group
    const cause = causes.get(row)
    if (cause === undefined) lines.push({ type: 'row', row, isBelow: false })
    else if (!told.has(cause)) {
      told.add(cause)
      const isOpen = isOpenIn(cause, turned)
      lines.push({ type: 'cause', cause, isOpen })
      if (isOpen) for (const one of cause.rows) lines.push({ type: 'row', row: one, isBelow: true })
    }
  }
  if (rest > 0) lines.push({ type: 'more', count: rest })
  return lines
}

/** Returns the key of a line, which stays the same however the line changes. */
export function keyOf(line: Line): string {
  switch (line.type) {
    case 'row':
      return line.row.key
    case 'cause':
      return causeKey(line.cause)
    case 'heading':
      return ` ${line.group}`
    case 'more':
      return ' more'
  }
}

/** Returns the key of a cause's line, which is no agent's id. */
export const causeKey = ({ key }: Cause): string => ` cause ${key}`

import { causesOf, type Cause } from './causes.ts'
import type { Group, Order, OverviewRow } from './overview.ts'

/** A line of the overview: a heading, a cause with the rows that have it below while it is open, a row, or the button that reads more. */
export type Line =
  | { readonly type: 'heading'; readonly group: Group; readonly count: number }
  | { readonly type: 'cause'; readonly cause: Cause; readonly isOpen: boolean }
  | { readonly type: 'row'; readonly row: OverviewRow; readonly isBelow: boolean }
  | { readonly type: 'more'; readonly count: number }

export interface LineOptions {
  readonly order: Order
  /** Causes that a person opened, or closed if they are open by themselves. */
  readonly turned: ReadonlySet<string>
  /** Number of sessions that are not read yet. */
  readonly rest: number
}

/** Each decision is another one, so they are seen at once. */
const isOpenIn = ({ key, standing }: Cause, turned: ReadonlySet<string>): boolean =>
  turned.has(key) !== (standing === 'waiting')

/** Returns the lines of the rows. Equal causes stand together, where the first of them is; in another order than that of need there are no groups. Pure. */
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

/** Key of a line, the same however it changes. */
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

/** Key of the line of a cause; no agent has such an id. */
export const causeKey = ({ key }: Cause): string => ` cause ${key}`

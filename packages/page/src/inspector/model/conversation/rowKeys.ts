import type { VisibleRow } from './graphVisible.ts'

/** A move in a tree: to a row, or to open, close or choose one. */
export type TreeMove =
  | { readonly type: 'go'; readonly to: number }
  | { readonly type: 'toggle'; readonly at: number }
  | { readonly type: 'select'; readonly at: number }

const page = 10

interface TreeRow {
  /** True if the row is open; `undefined` if there is nothing to open. */
  readonly isOpen?: boolean | undefined
}

/** Returns the move of a key at a row of a tree, after the pattern of ARIA; `undefined`: none. `level`: depth of a row. Pure. */
export function treeMove<R extends TreeRow>(
  key: string,
  rows: readonly R[],
  at: number,
  level: (row: R) => number,
): TreeMove | undefined {
  const last = rows.length - 1
  if (last < 0) return undefined
  const go = (to: number): TreeMove => ({ type: 'go', to: Math.max(0, Math.min(last, to)) })
  const here = rows[at]
  if (here === undefined)
    return ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(key) ? go(key === 'End' ? last : 0) : undefined
  switch (key) {
    case 'ArrowDown':
      return go(at + 1)
    case 'ArrowUp':
      return go(at - 1)
    case 'PageDown':
      return go(at + page)
    case 'PageUp':
      return go(at - page)
    case 'Home':
      return go(0)
    case 'End':
      return go(last)
    case 'ArrowRight':
      if (here.isOpen === undefined) return undefined
      return here.isOpen ? go(at + 1) : { type: 'toggle', at }
    case 'ArrowLeft':
      if (here.isOpen === true) return { type: 'toggle', at }
      return go(parentOf(rows, at, level))
    case 'Enter':
    case ' ':
      return { type: 'select', at }
    default:
      return undefined
  }
}

/** Returns the depth of a row in the tree, from 1: calls are below their message, a branch below its tag. */
export const levelOf = ({ row }: VisibleRow): number => 1 + row.lane + (row.type === 'call' ? 1 : 0)

/** Returns the index of the nearest row above that is less deep, or of the row itself if there is none. */
function parentOf<R>(rows: readonly R[], at: number, level: (row: R) => number): number {
  const own = level(rows[at]!)
  for (let i = at - 1; i >= 0; i--) if (level(rows[i]!) < own) return i
  return at
}

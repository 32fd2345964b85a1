import type { ComponentChildren, JSX } from 'preact'
import type { ShownRow } from './rowWindow.ts'
import { useRowWindow } from './useRowWindow.ts'

export interface RowScrollOptions {
  readonly count: number
  /** Returns a row's key. Keep this function and `estimate` while the rows stay: new functions make the list measure all rows again. */
  readonly keyOf: (index: number) => string
  /** Height in pixels of a row that was never shown. */
  readonly estimate: (index: number) => number
  readonly scroller: () => HTMLElement | null
  /** As `follows` and `keepsRow` of `RowWindowOptions`. */
  readonly follows: boolean
  readonly keepsRow?: boolean
}

export interface RowScroll {
  readonly items: readonly ShownRow[]
  /** Height of all rows together, in pixels. */
  readonly height: number
  readonly measure: (element: HTMLElement | null) => void
  readonly scrollTo: (index: number, align: 'auto' | 'start' | 'center') => void
  readonly scrollToEnd: () => void
  /** Returns true while the list stays at its end as rows are added. */
  readonly isFollowing: () => boolean
}

/** Lays out rows of any height in a list of any length. Only the rows in view are made. */
export function useRowScroll(options: RowScrollOptions): RowScroll {
  const { rows, shown } = useRowWindow({ overscan: 5, ...options })
  return {
    items: shown,
    height: rows.layout.total,
    measure: rows.measure,
    scrollTo: (index, align) => rows.scrollTo(index, align),
    scrollToEnd: () => rows.scrollToEnd(),
    isFollowing: () => rows.isFollowing,
  }
}

export interface RowsProps {
  readonly scroll: RowScroll
  /** Number of items if the rows are a list. Rows of any other kind have roles of their own. */
  readonly listOf?: number
  readonly row: (index: number) => ComponentChildren
}

/** The rows in view, each in its place. */
export const Rows = ({ scroll, listOf, row }: RowsProps): JSX.Element => (
  <div class="conversation-rows" role={listOf === undefined ? 'none' : 'list'} style={{ height: `${scroll.height}px` }}>
    {scroll.items.map(({ index, key, start }) => (
      <div
        key={key}
        ref={scroll.measure}
        data-index={index}
        class="conversation-place"
        role={listOf === undefined ? 'none' : 'listitem'}
        aria-posinset={listOf === undefined ? undefined : index + 1}
        aria-setsize={listOf}
        style={{ transform: `translateY(${start}px)` }}
      >
        {row(index)}
      </div>
    ))}
  </div>
)

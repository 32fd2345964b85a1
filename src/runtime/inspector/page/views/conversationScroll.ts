import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

export interface RowScrollOptions {
  readonly count: number
  /** This and `estimate` should be the same functions as long as the rows are: others make it measure them all again. */
  readonly keyOf: (index: number) => string
  /** Height in pixels of a row that was never shown. */
  readonly estimate: (index: number) => number
  readonly scroller: () => HTMLElement | null
  /** Whether it stays at the end while rows are added there. */
  readonly follows: boolean
}

export interface RowScroll {
  readonly items: readonly VirtualItem[]
  /** Pixels of all rows together. */
  readonly height: number
  readonly measure: (element: HTMLElement | null) => void
  readonly scrollTo: (index: number, align: 'auto' | 'center') => void
  readonly scrollToEnd: () => void
}

/** Rows of any height in a list of any length: only those in sight are made. */
export function useRowScroll({ count, keyOf, estimate, scroller, follows }: RowScrollOptions): RowScroll {
  const [, render] = useReducer((renders: number, _: void) => renders + 1, 0)
  const options = {
    count,
    getItemKey: keyOf,
    estimateSize: estimate,
    getScrollElement: scroller,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    overscan: 5,
    anchorTo: follows ? ('end' as const) : ('start' as const),
    followOnAppend: follows,
    scrollEndThreshold: 60,
    initialRect: { width: 0, height: 800 },
    onChange: () => render(),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  // oxlint-disable-next-line no-underscore-dangle -- Adapters call it so: there is no other name.
  useLayoutEffect(() => virtualizer._didMount(), [])
  // oxlint-disable-next-line no-underscore-dangle -- As above.
  useLayoutEffect(() => virtualizer._willUpdate())
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    measure: virtualizer.measureElement,
    scrollTo: (index, align) => virtualizer.scrollToIndex(index, { align }),
    scrollToEnd: () => virtualizer.scrollToEnd(),
  }
}

import { useLayoutEffect, useReducer, useState } from 'preact/hooks'
import { RowWindow, type RowWindowOptions, type ShownRow } from './rowWindow.ts'

/** Returns the rows of a scrolling element that are in view, and renders again when they change. */
export function useRowWindow({
  scroller,
  ...options
}: RowWindowOptions & { readonly scroller: () => HTMLElement | null }): {
  readonly rows: RowWindow
  readonly shown: readonly ShownRow[]
} {
  const [, draw] = useReducer((drawn: number, _: void) => drawn + 1, 0)
  const [rows] = useState(() => new RowWindow(() => draw()))
  const shown = rows.show(options)
  useLayoutEffect(() => () => rows.close(), [rows])
  useLayoutEffect(() => rows.settle(scroller()))
  return { rows, shown }
}

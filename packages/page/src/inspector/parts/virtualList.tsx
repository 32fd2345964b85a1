import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useRowWindow } from './useRowWindow.ts'

export interface VirtualListProps {
  readonly count: number
  /** Height of a row in pixels, or of most rows when they are measured. */
  readonly rowHeight: number
  /** True if rows have heights of their own. Default `false`. */
  readonly isMeasured?: boolean
  readonly keyOf: (index: number) => string | number
  readonly row: (index: number) => ComponentChildren
  /** Row to bring into view, whenever it or `scrollMark` changes; `null`: none. */
  readonly scrollTo?: number | null
  readonly scrollMark?: unknown
  /** True if the list begins at its end and stays there as it grows, until a person scrolls up. Default `false`. */
  readonly isFollowing?: boolean
  readonly class?: string
  /** Attributes of the list itself: role, label, `aria-activedescendant`, listeners. */
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** A list that has only the rows in view in the document, however long it is. */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, isMeasured = false, keyOf, row, scrollTo = null, scrollMark, isFollowing = false } = props
  const scroller = useRef<HTMLDivElement>(null)
  const { rows, shown } = useRowWindow({
    count,
    keyOf,
    estimate: rowHeight,
    scroller: () => scroller.current,
    overscan: 8,
    follows: isFollowing,
  })
  useLayoutEffect(() => {
    if (scrollTo !== null && scrollTo >= 0 && scrollTo < count) rows.scrollTo(scrollTo, 'auto')
  }, [scrollTo, scrollMark])

  return (
    <div ref={scroller} class={`scroll virtual ${props.class ?? ''}`} tabIndex={0} {...props.attributes}>
      <div class="virtual-rows" role="presentation" style={{ height: `${rows.layout.total}px` }}>
        {shown.map(({ index, key, start }) => (
          <div
            key={key}
            class="virtual-row"
            role="presentation"
            data-index={index}
            ref={isMeasured ? rows.measure : null}
            style={{ transform: `translateY(${start}px)`, ...(isMeasured ? {} : { height: `${rowHeight}px` }) }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}

import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'

export interface NewBelowProps {
  readonly scroller: () => HTMLElement | null
  /** Returns true while the list follows its end. */
  readonly isFollowing: () => boolean
  readonly count: number
  /** Number of characters of the reply that is being written; `null` if none is. */
  readonly growing: number | null
  readonly onEnd: () => void
}

/** Pixels from the end that still count as the end. */
const slack = 80

/** Notice that rows were added below the visible ones, which leads there. It is hidden while the end is in sight. */
export function NewBelow({ scroller, isFollowing, count, growing, onEnd }: NewBelowProps) {
  /** Number of rows when the end was last seen. */
  const [seen, setSeen] = useState(count)
  const [isAway, setAway] = useState(false)
  /** Number of characters when the end was last seen. */
  const read = useRef(0)
  if (!isAway || growing === null || growing < read.current) read.current = growing ?? 0
  useEffect(() => {
    if (!isAway || count < seen) setSeen(count)
  }, [isAway, count, seen])
  const look = (): void => {
    const element = scroller()
    if (element === null) return
    setAway(!isFollowing() && element.scrollHeight - element.scrollTop - element.clientHeight > slack)
  }
  // Rows are measured once they are drawn, which is no event of scrolling.
  useEffect(look)
  useEffect(() => {
    const element = scroller()
    element?.addEventListener('scroll', look, { passive: true })
    return () => element?.removeEventListener('scroll', look)
  }, [])
  const follow = (): void => {
    setSeen(count)
    onEnd()
  }
  const more = count - seen
  const isShown = isAway && (more > 0 || growing !== null)
  const added = (growing ?? 0) - read.current
  return (
    <div class="new-below" role="status">
      {isShown ? (
        <button type="button" class="button" onClick={follow}>
          {more > 0 ? `${counted(more, 'new row')} below` : 'Writing below'}
          {/* Not for who is told of every change here. */}
          {more > 0 || added === 0 ? null : <span aria-hidden="true"> · {counted(added, 'new character')}</span>}
        </button>
      ) : null}
    </div>
  )
}

import { useEffect, useState } from 'preact/hooks'
import { counted } from '../../charts/amounts.ts'

export interface NewBelowProps {
  readonly scroller: () => HTMLElement | null
  /** Whether the list stays at its end by itself. */
  readonly isFollowing: () => boolean
  /** Rows there are, and whether the last of them grows. */
  readonly count: number
  readonly isGrowing: boolean
  readonly onEnd: () => void
}

/** Pixels from the end that still count as the end. */
const slack = 80

/** Says that something was added below what is seen, and leads there. Nothing while the end is in sight. */
export function NewBelow({ scroller, isFollowing, count, isGrowing, onEnd }: NewBelowProps) {
  /** How many rows there were when the end was last seen. */
  const [seen, setSeen] = useState(count)
  const [isAway, setAway] = useState(false)
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
  const isShown = isAway && (more > 0 || isGrowing)
  return (
    <div class="new-below" role="status">
      {isShown ? (
        <button type="button" class="button" onClick={follow}>
          {more > 0 ? `${counted(more, 'new row')} below` : 'Writing below'}
        </button>
      ) : null}
    </div>
  )
}

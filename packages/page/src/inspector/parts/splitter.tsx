export interface SplitterProps {
  /** Name of the column that is made wider or narrower. */
  readonly label: string
  /** Width of the column in CSS pixels. */
  readonly width: number
  readonly least: number
  readonly most: number
  /** Side of the page on which the column is. The splitter is at the column's other edge. */
  readonly side: 'left' | 'right'
  readonly controls: string
  /** Called with a new width, which may be outside the limits. */
  readonly onWidth: (width: number) => void
  /** Called to restore the initial width. */
  readonly onReset: () => void
}

/** Step of an arrow key, in CSS pixels. */
const keyStep = 16

/** The edge of a column, moved by dragging or by arrow keys. A double click restores the initial width. */
export function Splitter({ label, width, least, most, side, controls, onWidth, onReset }: SplitterProps) {
  const outwards = side === 'left' ? 1 : -1
  const onPointerDown = (event: PointerEvent & { readonly currentTarget: HTMLElement }): void => {
    if (event.button !== 0) return
    event.preventDefault()
    const { currentTarget: edge, clientX: from, pointerId } = event
    edge.setPointerCapture(pointerId)
    const move = (moved: PointerEvent): void => onWidth(width + (moved.clientX - from) * outwards)
    const end = (): void => {
      edge.removeEventListener('pointermove', move)
      edge.removeEventListener('lostpointercapture', end)
    }
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', end)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next: Readonly<Record<string, number>> = {
      ArrowRight: width + keyStep * outwards,
      ArrowLeft: width - keyStep * outwards,
      Home: least,
      End: most,
    }
    const target = next[event.key]
    if (target === undefined) return
    event.preventDefault()
    onWidth(target)
  }
  return (
    <div
      class={`splitter is-${side}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-controls={controls}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={width}
      aria-valuetext={`${width} pixels`}
      title={`${label}: drag or use the arrow keys; double-click to reset`}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDblClick={onReset}
    />
  )
}

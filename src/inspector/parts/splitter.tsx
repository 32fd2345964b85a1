export interface SplitterProps {
  /** Of what is made wider or narrower. */
  readonly label: string
  /** In CSS pixels. */
  readonly width: number
  readonly least: number
  readonly most: number
  /** Where the column stands that it belongs to; the splitter is at its other edge. */
  readonly side: 'left' | 'right'
  readonly controls: string
  /** A width that need not be possible. */
  readonly onWidth: (width: number) => void
  /** It is asked for the width at first. */
  readonly onReset: () => void
}

/** How far one press of an arrow key goes, in CSS pixels. */
const keyStep = 16

/** The edge of a column, to be dragged, or moved by arrow keys; two clicks give it the width that it had at first. */
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
      title={`${label}: drag, or use arrow keys; two clicks: as at first`}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDblClick={onReset}
    />
  )
}

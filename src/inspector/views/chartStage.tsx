import { SquareButton } from '../parts/squareButton.tsx'
import { useSignal } from '@preact/signals'
import type { JSX, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { chartDrawing } from '../../charts/chartDrawing.ts'
import type { ChartLayout } from '../../charts/chartLayout.ts'
import type { ChartModel } from '../../charts/chartModel.ts'
import { cameraKey, centred, fitCamera, zoomed, type Camera, type Size } from '../model/chartCamera.ts'
import { brakeWords } from '../model/chartWords.ts'
import { ChartPicture } from './chartPicture.tsx'

export interface ChartStageProps {
  readonly layout: ChartLayout
  readonly model: ChartModel
  /** Path of the active state; empty when it is not known. */
  readonly active: string
  /** States it has just been in. */
  readonly trail: ReadonlySet<string>
}

/** A whole picture smaller than this cannot be read: its active state is followed instead. */
const readable = 0.45
const followScale = 0.85

/** The picture of a chart, to be moved and zoomed by pointer, wheel, keys and buttons. */
export function ChartStage({ layout, model, active, trail }: ChartStageProps): JSX.Element {
  const stage = useRef<HTMLDivElement>(null)
  const viewport = useSignal<Size>({ width: 0, height: 0 })
  const camera = useSignal<Camera | null>(null)
  /** `null` until a person chooses. */
  const follows = useSignal<boolean | null>(null)

  useLayoutEffect(() => {
    const element = stage.current!
    const observer = new ResizeObserver(() => {
      viewport.value = { width: element.clientWidth, height: element.clientHeight }
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const fit = fitCamera(layout, viewport.value)
  const isFollowing = follows.value ?? (fit.scale < readable && active !== '')
  const box = layout.boxes.find(({ id }) => id === active)
  const shown = camera.value ?? (isFollowing && box !== undefined ? centred(followScale, box, viewport.value) : fit)
  useEffect(() => {
    // Following keeps the next state in the middle, too.
    if (isFollowing) camera.value = null
  }, [active, isFollowing])

  const lit = useMemo(() => {
    const { nodes } = chartDrawing({ ...model, active: active === '' ? [] : [active] })
    return new Map(nodes.map((node) => [node.id, node.active]))
  }, [model, active])

  const move = (next: Camera): void => void (camera.value = next)
  const pointer = usePointer(stage, shown, move)
  const zoomBy = (factor: number): void =>
    move(zoomed(shown, factor, { x: viewport.value.width / 2, y: viewport.value.height / 2 }))
  const fitAll = (): void => {
    follows.value = false
    camera.value = null
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== stage.current || event.ctrlKey || event.metaKey || event.altKey) return
    const next = cameraKey(event.key, shown, viewport.value)
    if (next === undefined) return
    event.preventDefault()
    if (next === 'fit') fitAll()
    else move(next)
  }

  return (
    <div class="chart-place">
      <div
        ref={stage}
        class="chart-stage"
        role="group"
        aria-label="Picture of the statechart. Arrow keys move it, plus and minus zoom, 0 shows all of it."
        tabIndex={0}
        onKeyDown={onKeyDown}
        {...pointer}
      >
        <ChartPicture layout={layout} lit={lit} trail={trail} camera={shown} label={labelOf(model, active)} />
      </div>
      <ChartTools
        isFollowing={isFollowing}
        onZoom={zoomBy}
        onFit={fitAll}
        onFollow={() => {
          follows.value = !isFollowing
          camera.value = null
        }}
      />
    </div>
  )
}

/** Dragging moves the picture, the wheel zooms it around the pointer. */
function usePointer(stage: RefObject<HTMLElement | null>, shown: Camera, move: (next: Camera) => void) {
  const drag = useRef<{ readonly x: number; readonly y: number } | null>(null)
  const end = (): void => void (drag.current = null)
  return {
    onWheel(event: WheelEvent): void {
      event.preventDefault()
      const place = stage.current!.getBoundingClientRect()
      const pixels = event.deltaMode === 0 ? event.deltaY : event.deltaY * 32
      const factor = Math.exp(-Math.max(-200, Math.min(200, pixels)) * 0.0018)
      move(zoomed(shown, factor, { x: event.clientX - place.left, y: event.clientY - place.top }))
    },
    onPointerDown(event: PointerEvent): void {
      if (event.button !== 0) return
      drag.current = { x: event.clientX - shown.x, y: event.clientY - shown.y }
      stage.current!.setPointerCapture(event.pointerId)
    },
    onPointerMove(event: PointerEvent): void {
      if (drag.current === null) return
      move({ ...shown, x: event.clientX - drag.current.x, y: event.clientY - drag.current.y })
    },
    onPointerUp: end,
    onPointerCancel: end,
  }
}

interface ChartToolsProps {
  readonly isFollowing: boolean
  readonly onZoom: (factor: number) => void
  readonly onFit: () => void
  readonly onFollow: () => void
}

const ChartTools = ({ isFollowing, onZoom, onFit, onFollow }: ChartToolsProps): JSX.Element => (
  <div class="chart-tools" role="group" aria-label="Zoom">
    <SquareButton label="Zoom in" hint="Zoom in (+)" onClick={() => onZoom(1.25)}>
      <Sign path="M7 2v10M2 7h10" />
    </SquareButton>
    <SquareButton label="Zoom out" hint="Zoom out (−)" onClick={() => onZoom(0.8)}>
      <Sign path="M2 7h10" />
    </SquareButton>
    <SquareButton label="Show all of it" hint="Show all of it (0)" onClick={onFit}>
      <Sign path="M2 5V2h3M9 2h3v3M12 9v3H9M5 12H2V9" />
    </SquareButton>
    <SquareButton label="Follow the active state" isPressed={isFollowing} onClick={onFollow}>
      <Sign path="M7 1v3M7 10v3M1 7h3M10 7h3M4.5 7a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0" />
    </SquareButton>
  </div>
)

const Sign = ({ path }: { readonly path: string }): JSX.Element => (
  <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
    <path d={path} />
  </svg>
)

/** The picture in a sentence; the list of states below has the rest. */
function labelOf(model: ChartModel, active: string): string {
  const brakes = brakeWords(model.brakes).map(({ name, effect }) => `${name} brake ${effect}.`)
  return [`Statechart of ${model.title}.`, active === '' ? '' : `Active: ${active}.`, ...brakes]
    .filter(Boolean)
    .join(' ')
}

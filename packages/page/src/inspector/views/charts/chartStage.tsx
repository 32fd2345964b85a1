import { useSignal } from '@preact/signals'
import type { JSX, RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { chartDrawing } from '../../../../../charts/src/chartDrawing.ts'
import type { ChartLayout, PlacedArrow } from '../../../../../charts/src/chartLayout.ts'
import type { ChartModel } from '../../../../../charts/src/chartModel.ts'
import { cameraKey, centred, fitCamera, zoomed, type Camera, type Size } from '../../model/charts/chartCamera.ts'
import { arranged } from '../../model/charts/machinesBeside.ts'
import { outermost, type ChartChoice } from '../../model/charts/chartChoice.ts'
import { brakeWords, isActiveState } from '../../model/charts/chartWords.ts'
import { narrow, useMedia } from '../../parts/useMedia.ts'
import { SquareButton } from '../../parts/squareButton.tsx'
import { ChartCard } from './chartCard.tsx'
import { ChartPicture } from './chartPicture.tsx'

export interface ChartStageProps {
  readonly layout: ChartLayout
  readonly model: ChartModel
  /** Path of the active state; empty when it is not known. */
  readonly active: string
  /** Other active states, of a machine that is in several at once. */
  readonly also?: readonly string[]
  /** States that were active recently. */
  readonly trail: ReadonlySet<string>
  /** Line of the state `paused` that gives the reason of the pause; `null` if there is none. */
  readonly reason?: string | null
  /** Opens or closes a state that holds others. */
  readonly onToggle?: ((id: string) => void) | undefined
  /** True if only the outermost states are in the picture. */
  readonly isOverview: boolean
}

const none: readonly string[] = []
const followScale = 0.85
/** Width of the column of tools, with the space beside it, in pixels. */
const toolsWidth = 48

/** The picture of a chart, to be moved and zoomed by pointer, wheel, keys and buttons. */
export function ChartStage({
  layout: made,
  model,
  active,
  also = none,
  trail,
  isOverview,
  ...given
}: ChartStageProps): JSX.Element {
  const stage = useRef<HTMLDivElement>(null)
  const viewport = useSignal<Size>({ width: 0, height: 0 })
  const camera = useSignal<Camera | null>(null)
  /** True while the camera follows the active state. */
  const follows = useSignal(false)

  useLayoutEffect(() => {
    const element = stage.current!
    const observer = new ResizeObserver(() => {
      viewport.value = { width: element.clientWidth, height: element.clientHeight }
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // The tools stand over the picture's edge, or below it.
  const room = useMedia(narrow) ? 0 : toolsWidth
  const { width, height } = viewport.value
  const free = { width: Math.max(0, width - room), height }
  const layout = useMemo(() => (isOverview ? made : arranged(made, free)), [made, isOverview, free.width, height])
  const fit = fitCamera(layout, free)
  const isFollowing = follows.value && active !== ''
  const at = isOverview ? outermost(active) : active
  const box = layout.boxes.find(({ id }) => id === at)
  const shown = camera.value ?? (isFollowing && box !== undefined ? centred(followScale, box, viewport.value) : fit)
  useEffect(() => {
    // Following keeps the next state in the middle, too.
    if (isFollowing) camera.value = null
  }, [active, isFollowing])

  const lit = useMemo(() => {
    if (isOverview) return new Map([[outermost(active), 'itself' as const]])
    const { nodes } = chartDrawing({ ...model, active: active === '' ? [] : [active, ...also] })
    return new Map(nodes.flatMap(({ id, active: how }) => (how === undefined ? [] : [[id, how] as const])))
  }, [model, active, also.join('\n'), isOverview])
  const recent = useMemo(() => (isOverview ? new Set([...trail].map(outermost)) : trail), [trail, isOverview])
  const choice = useSignal<ChartChoice | null>(null)
  const showsAll = useSignal(false)
  const all = isOverview || showsAll.value || active === ''
  const chosenId =
    choice.value === null ? null : choice.value.type === 'arrow' ? choice.value.arrow.id : choice.value.id
  const labels = useCallback(
    ({ id, from }: PlacedArrow): boolean => all || id === chosenId || isActiveState(from, active),
    [all, chosenId, active],
  )
  const choose = (what: Element | null): void => {
    const { state, arrow } = what instanceof SVGElement ? what.dataset : {}
    const found = layout.arrows.find(({ id }) => id === arrow)
    const next: ChartChoice | null =
      found !== undefined ? { type: 'arrow', arrow: found } : state === undefined ? null : { type: 'state', id: state }
    choice.value = next
  }

  const move = (next: Camera): void => void (camera.value = next)
  const pointer = usePointer(stage, shown, move, choose)
  const zoomBy = (factor: number): void =>
    move(zoomed(shown, factor, { x: viewport.value.width / 2, y: viewport.value.height / 2 }))
  const fitAll = (): void => {
    follows.value = false
    camera.value = null
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== stage.current || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') choice.value = null
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
        aria-label="Picture of the statechart. Arrow keys pan, plus and minus zoom, z fits the chart."
        tabIndex={0}
        onKeyDown={onKeyDown}
        {...pointer}
        onDblClick={({ clientX, clientY }) => {
          // As with a click, the stage has the pointer.
          const state = document.elementFromPoint(clientX, clientY)?.closest<SVGElement>('[data-state]')?.dataset[
            'state'
          ]
          if (state !== undefined) given.onToggle?.(state)
        }}
      >
        <ChartPicture
          layout={layout}
          lit={lit}
          reason={given.reason ?? null}
          trail={recent}
          labels={labels}
          chosen={chosenId}
          camera={shown}
          label={labelOf(model, active, given.reason)}
        />
      </div>
      {choice.value !== null && (
        <ChartCard model={model} choice={choice.value} onClose={() => void (choice.value = null)} />
      )}
      <ChartTools
        isFollowing={isFollowing}
        labels={isOverview ? null : all}
        onLabels={() => void (showsAll.value = !showsAll.value)}
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

/** Pixels that a pointer may move during a click. */
const slack = 4

/** Lets dragging move the picture, and the wheel zoom it around the pointer. */
function usePointer(
  stage: RefObject<HTMLElement | null>,
  shown: Camera,
  move: (next: Camera) => void,
  choose: (what: Element | null) => void,
) {
  const drag = useRef<{ readonly x: number; readonly y: number } | null>(null)
  /** Place where the pointer went down; `null` once it has gone far enough to move the picture. */
  const press = useRef<{ readonly x: number; readonly y: number } | null>(null)
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
      press.current = { x: event.clientX, y: event.clientY }
      stage.current!.setPointerCapture(event.pointerId)
    },
    onPointerMove(event: PointerEvent): void {
      if (drag.current === null) return
      const { x, y } = press.current ?? { x: Number.NaN, y: 0 }
      if (Math.hypot(event.clientX - x, event.clientY - y) < slack) return
      press.current = null
      move({ ...shown, x: event.clientX - drag.current.x, y: event.clientY - drag.current.y })
    },
    onPointerUp(event: PointerEvent): void {
      end()
      // The stage has captured the pointer, so that the target is always itself.
      if (press.current === null) return
      const hit = document.elementFromPoint(event.clientX, event.clientY)
      choose(hit?.closest('[data-arrow], [data-state]') ?? null)
    },
    onPointerCancel: end,
  }
}

interface ChartToolsProps {
  readonly isFollowing: boolean
  /** True while all arrows have labels; `null` where they always have. */
  readonly labels: boolean | null
  readonly onLabels: () => void
  readonly onZoom: (factor: number) => void
  readonly onFit: () => void
  readonly onFollow: () => void
}

const ChartTools = ({ isFollowing, labels, onLabels, onZoom, onFit, onFollow }: ChartToolsProps): JSX.Element => (
  <div class="chart-tools" role="group" aria-label="Zoom">
    {labels !== null && (
      <SquareButton label="Label all arrows" isPressed={labels} onClick={onLabels}>
        <Sign path="M2 3h10M7 3v9" />
      </SquareButton>
    )}
    <SquareButton label="Zoom in" hint="Zoom in (+)" onClick={() => onZoom(1.25)}>
      <Sign path="M7 2v10M2 7h10" />
    </SquareButton>
    <SquareButton label="Zoom out" hint="Zoom out (−)" onClick={() => onZoom(0.8)}>
      <Sign path="M2 7h10" />
    </SquareButton>
    <SquareButton label="Fit to view" hint="Fit to view (z)" onClick={onFit}>
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

/** Describes the picture in a sentence; the list of states below has the rest. */
function labelOf(model: ChartModel, active: string, reason: string | null = null): string {
  const brakes = brakeWords(model.brakes).map(({ name, effect }) => `${name} brake ${effect}.`)
  return [
    `Statechart of ${model.title}.`,
    active === '' ? '' : `Active: ${active}${reason === null ? '' : `, ${reason}`}.`,
    ...brakes,
  ]
    .filter(Boolean)
    .join(' ')
}

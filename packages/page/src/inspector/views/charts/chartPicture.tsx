import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { arrowEnd, arrowPath } from '../../../../../charts/src/arrowPath.ts'
import { brakeChips } from '../../../../../charts/src/brakeChips.ts'
import type { DrawnNode } from '../../../../../charts/src/chartDrawing.ts'
import {
  boxLines,
  exitPoints,
  isLeft,
  leftOf,
  lineHeight,
  type BoxLine,
  type ChartLayout,
  type PlacedArrow,
  type PlacedBox,
} from '../../../../../charts/src/chartLayout.ts'
import { farName, farText, namesFromAfar, type Camera } from '../../model/charts/chartCamera.ts'

export interface ChartPictureProps {
  readonly layout: ChartLayout
  /** Active states, and how each is active. */
  readonly lit: ReadonlyMap<string, DrawnNode['active']>
  /** Line of the active state `paused` that gives the reason; `null` if there is none. */
  readonly reason: string | null
  /** States that were active recently. */
  readonly trail: ReadonlySet<string>
  /** Returns true if the label of an arrow is shown. */
  readonly labels: (arrow: PlacedArrow) => boolean
  /** The state or arrow that a person chose. */
  readonly chosen: string | null
  readonly camera: Camera
  /** Description of the picture in a sentence. */
  readonly label: string
}

/** A chart as SVG: only the active states and the camera change. From afar it shows names alone, as large as text. */
export function ChartPicture({
  layout,
  lit,
  reason,
  trail,
  labels,
  chosen,
  camera,
  label,
}: ChartPictureProps): JSX.Element {
  const { boxes, arrows } = layout
  const far = farText(camera.scale)
  const ways = useMemo(
    () => arrows.map((arrow) => <Arrow key={arrow.id} arrow={arrow} isChosen={arrow.id === chosen} />),
    [arrows, chosen],
  )
  const said = useMemo(
    () => (far === null ? arrows.filter(labels).map((arrow) => <Label key={arrow.id} arrow={arrow} />) : null),
    [arrows, labels, far === null],
  )
  const named = useMemo(() => (far === null ? undefined : namesFromAfar(boxes, far, lit)), [boxes, far, lit])
  const inner = boxes.filter(({ isOuter }) => !isOuter)
  // One that its name has made wider lies below those beside it.
  const widened = (placed: PlacedBox): number => farName(placed, far ?? 0).around.width - placed.width
  const front = inner.filter(({ id }) => named?.has(id) === true).toSorted((a, b) => widened(b) - widened(a))
  const box = (placed: PlacedBox): JSX.Element => (
    <Box
      key={placed.id}
      box={placed}
      active={lit.get(placed.id)}
      reason={placed.id === 'paused' && lit.has('paused') ? reason : null}
      isRecent={trail.has(placed.id)}
      far={far}
      isNamed={named?.has(placed.id) === true}
    />
  )
  return (
    <svg
      class={`chart-picture ${far === null ? '' : 'is-far'}`}
      width="100%"
      height="100%"
      role="img"
      aria-label={label}
    >
      <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>
        {boxes.filter(({ isOuter }) => isOuter).map(box)}
        {ways}
        {inner.filter(({ id }) => named?.has(id) !== true).map(box)}
        {front.map(box)}
        {said}
      </g>
    </svg>
  )
}

interface BoxProps {
  readonly box: PlacedBox
  readonly active: DrawnNode['active']
  readonly isRecent: boolean
  readonly reason: string | null
  /** Size of names that are read from afar; `null` if the picture is near. */
  readonly far: number | null
  /** True if the box shows its name from afar. */
  readonly isNamed: boolean
}

function Box(props: BoxProps): JSX.Element {
  const { box, active, isRecent, reason, far, isNamed } = props
  return useMemo(() => drawnBox(props), [box, active, isRecent, reason, far, isNamed])
}

function drawnBox({ box, active, isRecent, reason, far, isNamed }: BoxProps): JSX.Element {
  const { kind } = box
  const name = far === null || !isNamed ? undefined : farName(box, far)
  const { x, y, width, height } = name?.around ?? box
  if (kind === 'initial') return <circle class="chart-start" cx={x + width / 2} cy={y + height / 2} r={width / 2} />
  const lines = boxLines(box)
  if (kind === 'junction' && lines.length === 0) {
    const [cx, cy, r] = [x + width / 2, y + height / 2, width / 2]
    return <path class="chart-junction" d={`M${cx} ${cy - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`} />
  }
  const isActive = active === undefined ? (isRecent ? 'is-recent' : '') : `is-${active}`
  const left = x + leftOf(box)
  const isAtLeft = far === null ? isLeft(box) : box.isOuter
  const at = isAtLeft ? { x: left } : { x: x + width / 2, 'text-anchor': 'middle' as const }
  return (
    <g
      class={`chart-box is-${kind} ${box.isOuter ? 'is-outer' : ''} ${isActive} ${far === null ? '' : 'is-far'}`}
      data-state={box.id}
    >
      {box.description !== undefined && <title>{box.description}</title>}
      <rect x={x} y={y} width={width} height={height} rx="8" />
      {kind === 'final' && <rect class="chart-ring" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx="6" />}
      {far === null ? (
        <>
          <text class="chart-name" {...at} y={y + 22}>
            {box.label}
          </text>
          {lines.map((line, index) => {
            const base = y + 22 + (index + 1) * lineHeight
            return (
              <g key={index} class={line.text === reason ? 'chart-reason' : undefined}>
                {line.text === reason && <rect x={x + 6} y={base - 12} width={width - 12} height={lineHeight} rx="4" />}
                <Line line={line} x={left} y={base} />
              </g>
            )
          })}
          {brakeChips(box).map((chip) => (
            <g key={chip.name} class={`chart-chip is-${chip.style}`}>
              <rect x={chip.x} y={chip.y} width={chip.width} height={chip.height} rx="4" />
              <text x={chip.x + chip.width / 2} y={chip.y + 14} text-anchor="middle">
                {chip.name}
              </text>
            </g>
          ))}
        </>
      ) : (
        name !== undefined && (
          <text
            class="chart-name"
            {...at}
            y={y + (box.isOuter ? name.size * 1.2 : height / 2 + name.size * 0.36)}
            style={{ fontSize: `${name.size}px` }}
          >
            {box.label}
          </text>
        )
      )}
    </g>
  )
}

function Line({ line, x, y }: { readonly line: BoxLine; readonly x: number; readonly y: number }): JSX.Element {
  const { text, indent, name, style } = line
  const said = (
    <text class="chart-detail" x={x + indent} y={y}>
      {name !== undefined && <tspan class="chart-to">{name}</tspan>}
      {text}
    </text>
  )
  if (style === undefined) return said
  return (
    <g class={`chart-exit chart-arrow is-${style}`}>
      <Way arrow={{ points: exitPoints(x, y), style }} />
      {said}
    </g>
  )
}

const arrowClass = ({ style, role }: PlacedArrow): string => `is-${style} ${role === undefined ? '' : `is-${role}`}`

function Arrow({ arrow, isChosen }: { readonly arrow: PlacedArrow; readonly isChosen: boolean }): JSX.Element | null {
  return (
    <g class={`chart-arrow ${arrowClass(arrow)} ${isChosen ? 'is-chosen' : ''}`} data-arrow={arrow.id}>
      {arrow.names !== undefined && <title>{arrow.names}</title>}
      <path class="chart-hit" d={arrowPath(arrow)} />
      <Way arrow={arrow} />
    </g>
  )
}

function Way({
  arrow,
}: {
  readonly arrow: Pick<PlacedArrow, 'points' | 'style' | 'role' | 'isCurve'>
}): JSX.Element | null {
  const end = arrowEnd(arrow.points, arrow.role === undefined ? 4 : 6)
  if (end === undefined) return null
  return (
    <>
      <path class="chart-way" d={arrowPath(arrow)} />
      <path class="chart-head" d={end.head} />
      {arrow.style === 'shut' && <path class="chart-shut" d={end.bar} />}
    </>
  )
}

function Label({ arrow }: { readonly arrow: PlacedArrow }): JSX.Element | null {
  const { label } = arrow
  if (label === undefined) return null
  return (
    <g class={`chart-label ${arrowClass(arrow)}`} data-arrow={arrow.id}>
      {arrow.names !== undefined && <title>{arrow.names}</title>}
      {label.lines.map((line, index) => (
        <text key={index} x={label.x + 4} y={label.y + 12 + index * lineHeight}>
          {line}
        </text>
      ))}
    </g>
  )
}

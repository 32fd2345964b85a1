import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { DrawnNode } from '../../charts/chartDrawing.ts'
import {
  detailLines,
  lineHeight,
  type ChartLayout,
  type PlacedArrow,
  type PlacedBox,
} from '../../charts/chartLayout.ts'
import type { Camera } from '../model/chartCamera.ts'
import { arrowEnd, wayPath } from '../../charts/arrowPath.ts'

export interface ChartPictureProps {
  readonly layout: ChartLayout
  /** How each state is active. */
  readonly lit: ReadonlyMap<string, DrawnNode['active']>
  /** States that were active a moment ago. */
  readonly trail: ReadonlySet<string>
  readonly camera: Camera
  /** The picture in a sentence. */
  readonly label: string
}

/** A chart as SVG: only what is lit and where it is seen from changes. */
export function ChartPicture({ layout, lit, trail, camera, label }: ChartPictureProps): JSX.Element {
  const { boxes, arrows } = layout
  const ways = useMemo(() => arrows.map((arrow) => <Arrow key={arrow.id} arrow={arrow} />), [arrows])
  const labels = useMemo(() => arrows.map((arrow) => <Label key={arrow.id} arrow={arrow} />), [arrows])
  const box = (placed: PlacedBox): JSX.Element => (
    <Box key={placed.id} box={placed} active={lit.get(placed.id)} isRecent={trail.has(placed.id)} />
  )
  return (
    <svg class="chart-picture" width="100%" height="100%" role="img" aria-label={label}>
      <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>
        {boxes.filter(({ isOuter }) => isOuter).map(box)}
        {ways}
        {boxes.filter(({ isOuter }) => !isOuter).map(box)}
        {labels}
      </g>
    </svg>
  )
}

interface BoxProps {
  readonly box: PlacedBox
  readonly active: DrawnNode['active']
  readonly isRecent: boolean
}

function Box({ box, active, isRecent }: BoxProps): JSX.Element {
  return useMemo(() => drawnBox(box, active, isRecent), [box, active, isRecent])
}

function drawnBox(box: PlacedBox, active: DrawnNode['active'], isRecent: boolean): JSX.Element {
  const { x, y, width, height, kind } = box
  if (kind === 'initial') return <circle class="chart-start" cx={x + width / 2} cy={y + height / 2} r={width / 2} />
  const lines = detailLines(box)
  if (kind === 'junction' && lines.length === 0) {
    const [cx, cy, r] = [x + width / 2, y + height / 2, width / 2]
    return <path class="chart-junction" d={`M${cx} ${cy - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`} />
  }
  const isActive = active === undefined ? (isRecent ? 'is-recent' : '') : `is-${active}`
  const at = box.isOuter ? { x: x + 14 } : { x: x + width / 2, 'text-anchor': 'middle' as const }
  return (
    <g class={`chart-box is-${kind} ${box.isOuter ? 'is-outer' : ''} ${isActive}`} data-state={box.id}>
      <rect x={x} y={y} width={width} height={height} rx="8" />
      {kind === 'final' && <rect class="chart-ring" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx="6" />}
      <text class="chart-name" {...at} y={y + 22}>
        {box.label}
      </text>
      {lines.map((line, index) => (
        <text key={index} class="chart-detail" {...at} y={y + 22 + (index + 1) * lineHeight}>
          {line}
        </text>
      ))}
    </g>
  )
}

function Arrow({ arrow }: { readonly arrow: PlacedArrow }): JSX.Element | null {
  const end = arrowEnd(arrow.points)
  if (end === undefined) return null
  return (
    <g class={`chart-arrow is-${arrow.style}`}>
      <path class="chart-way" d={wayPath(arrow.points)} />
      <path class="chart-head" d={end.head} />
      {arrow.style === 'shut' && <path class="chart-shut" d={end.bar} />}
    </g>
  )
}

function Label({ arrow }: { readonly arrow: PlacedArrow }): JSX.Element | null {
  const { label, style } = arrow
  if (label === undefined) return null
  return (
    <g class={`chart-label is-${style}`}>
      {label.lines.map((line, index) => (
        <text key={index} x={label.x + 4} y={label.y + 12 + index * lineHeight}>
          {line}
        </text>
      ))}
    </g>
  )
}

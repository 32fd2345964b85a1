import { arrowEnd, arrowPath } from './arrowPath.ts'
import { brakeChips } from './brakeChips.ts'
import { chartLegend } from './chartLegend.ts'
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
} from './chartLayout.ts'
import { escapeXml } from './escapeText.ts'
import { fontSizes, pictureStyle } from './pictureStyle.ts'

const chartStyle = `
    .box { fill: var(--box); stroke: var(--line); stroke-width: 1.25; }
    .outer { fill: var(--frame); }
    .machine > .box { fill: none; stroke-dasharray: 2 5; }
    .any > .box { fill: none; stroke-dasharray: 3 3; }
    .any text { fill: var(--quiet); font-style: italic; }
    .name { font-weight: 600; }
    .final > .inner { fill: none; stroke: var(--line); }
    .dot { fill: var(--quiet); }
    .junction { fill: var(--box); stroke: var(--edge); stroke-width: 1.25; }
    .inside > .box { stroke: var(--glow); }
    .itself > .box { fill: var(--lit); stroke: var(--glow); stroke-width: 2.5; }
    .arrow { fill: none; stroke: var(--edge); stroke-width: 1.25; stroke-linejoin: round; }
    .head { fill: var(--edge); }
    .label { fill: var(--quiet); font-size: ${fontSizes.label}px; paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
    .to { fill: var(--ink); } .open .to { fill: var(--open); } .shut .to { fill: var(--shut); } .brake .to { fill: var(--warn); }
    .under { fill: var(--paper); opacity: 0.9; }
    .open .arrow { stroke: var(--open); stroke-width: 2.25; } .open .head { fill: var(--open); } .open .label { fill: var(--open); font-weight: 600; }
    .shut .arrow { stroke: var(--shut); stroke-dasharray: 5 4; } .shut .head { fill: var(--shut); } .shut .label { fill: var(--shut); }
    .cross { stroke: var(--shut); stroke-width: 2.25; }
    .brake .arrow { stroke: var(--warn); stroke-width: 2; } .brake .head { fill: var(--warn); }
    .ring .arrow { stroke: var(--glow); stroke-width: 3.5; } .ring .head { fill: var(--glow); } .ring .label { fill: var(--ink); font-weight: 600; }
    .bundle .arrow { stroke-width: 5; }
    rect.chip { fill: none; stroke: var(--warn); } rect.open { stroke: var(--open); } rect.shut { stroke: var(--shut); stroke-dasharray: 4 3; }
    text.chip { fill: var(--warn); font-size: 12px; } text.open { fill: var(--open); font-weight: 600; } text.shut { fill: var(--shut); }
    text.told { fill: var(--quiet); font-size: 12px; }
    .runs .arrow { stroke-dasharray: 1 4; stroke-linecap: round; }`

const round = (value: number): number => Math.round(value * 10) / 10

/** Options of `chartSvg`. `legend` chooses the explanation of the marks below the picture. Default: none. */
export interface ChartSvgOptions {
  readonly legend?: 'overview' | 'full'
}

/** Draws a laid-out chart as a self-contained picture: no script, light and dark, with a title and a description. Pure. */
export function chartSvg(layout: ChartLayout, { legend }: ChartSvgOptions = {}): string {
  const { width, title, boxes, arrows } = layout
  const told = legend === undefined ? undefined : chartLegend(legend, layout)
  const height = layout.height + (told?.height ?? 0)
  const outer = boxes.filter(({ isOuter }) => isOuter)
  const inner = boxes.filter(({ isOuter }) => !isOuter)
  return `<svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" style="max-width:100%;height:auto" role="img" aria-labelledby="title desc">
  <title id="title">${escapeXml(`Statechart of ${title}`)}</title>
  <desc id="desc">${escapeXml(described(layout))}</desc>
  <style>${pictureStyle}${chartStyle}
  </style>
  <rect class="paper" width="${width}" height="${height}" rx="8"/>
${[...outer.map(boxSvg), ...arrows.map(arrowSvg), ...inner.map(boxSvg), ...arrows.map(labelSvg), told?.svg].filter(Boolean).join('\n')}
</svg>
`
}

/** Describes a chart in words: its states, the active ones, the brakes. */
function described({ boxes, arrows }: ChartLayout): string {
  const states = boxes.filter(({ kind }) => !['initial', 'junction', 'any', 'machine'].includes(kind))
  const active = states.filter((box) => box.active === 'itself').map(({ id }) => id)
  const exits = boxes.flatMap((box) => (box.exits ?? []).map(({ to, style }) => ({ from: box.id, to, style })))
  const brakes = [...arrows, ...exits].filter(({ style }) => style === 'open' || style === 'shut')
  const told = brakes.map(({ from, to, style }) => `${from} to ${to} is ${style}`)
  return [
    `States: ${states.map(({ id }) => id).join(', ')}.`,
    active.length === 0 ? '' : `Active: ${active.join(', ')}.`,
    told.length === 0 ? '' : `Brakes: ${told.join('; ')}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

function boxSvg(box: PlacedBox): string {
  const [x, y, width, height] = [box.x, box.y, box.width, box.height].map(round) as [number, number, number, number]
  if (box.kind === 'initial')
    return `  <circle class="dot" cx="${x + width / 2}" cy="${y + height / 2}" r="${width / 2}"/>`
  if (box.kind === 'junction' && box.exits === undefined) {
    const [r, cx, cy] = [width / 2, x + width / 2, y + height / 2]
    return `  <path class="junction" d="M${cx} ${cy - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z"/>`
  }
  const centre = round(x + width / 2)
  const classes = ['state', box.kind === 'junction' ? 'then' : box.kind, box.active, box.isOuter ? 'outer-state' : '']
    .filter(Boolean)
    .join(' ')
  const left = round(x + leftOf(box))
  const place = isLeft(box) ? `x="${left}"` : `x="${centre}" text-anchor="middle"`
  const ring =
    box.kind === 'final'
      ? `<rect class="inner" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="6"/>`
      : ''
  const lines = boxLines(box).map((line, index) => lineSvg(line, left, round(y + 22 + (index + 1) * lineHeight)))
  const title = box.description === undefined ? '' : `<title>${escapeXml(box.description)}</title>`
  const chips = brakeChips(box).map(({ name, style, x: start, y: top, width: wide, height: high }) => {
    const text = `<text class="chip ${style}" x="${start + wide / 2}" y="${top + 14}" text-anchor="middle">${escapeXml(name)}</text>`
    return `<rect class="chip ${style}" x="${start}" y="${top}" width="${wide}" height="${high}" rx="4"/>${text}`
  })
  return `  <g class="${classes}" data-state="${escapeXml(box.id)}">${title}<rect class="box${box.isOuter ? ' outer' : ''}" x="${x}" y="${y}" width="${width}" height="${height}" rx="9"/>${ring}<text class="name" ${place} y="${round(y + 22)}">${escapeXml(box.label)}</text>${lines.join('')}${chips.join('')}</g>`
}

function lineSvg({ text, indent, name, style }: BoxLine, x: number, y: number): string {
  const said = name === undefined ? '' : `<tspan class="to">${escapeXml(name)}</tspan>`
  const line = `<text class="quiet" x="${round(x + indent)}" y="${y}">${said}${escapeXml(text)}</text>`
  return style === undefined ? line : `<g class="${style}">${waySvg({ points: exitPoints(x, y), style })}${line}</g>`
}

const arrowClass = ({ style, role }: PlacedArrow): string => (role === undefined ? style : `${style} ${role}`)

function arrowSvg(arrow: PlacedArrow): string {
  const way = waySvg(arrow)
  const title = arrow.names === undefined ? '' : `<title>${escapeXml(arrow.names)}</title>`
  return way === '' ? '' : `  <g class="${arrowClass(arrow)}">${title}${way}</g>`
}

function waySvg(arrow: Pick<PlacedArrow, 'points' | 'style' | 'role' | 'isCurve'>): string {
  const end = arrowEnd(arrow.points, arrow.role === undefined ? 4 : 6)
  if (end === undefined) return ''
  // A bar over the end of an arrow: it is not taken.
  const bar = arrow.style === 'shut' ? `<path class="cross" d="${end.bar}"/>` : ''
  return `<path class="arrow" d="${arrowPath(arrow)}"/><path class="head" d="${end.head}"/>${bar}`
}

function labelSvg(arrow: PlacedArrow): string {
  const { label } = arrow
  if (label === undefined) return ''
  const lines = label.lines.map(
    (line, index) =>
      `<text class="label" x="${round(label.x + 4)}" y="${round(label.y + 12 + index * lineHeight)}">${escapeXml(line)}</text>`,
  )
  return `  <g class="${arrowClass(arrow)}">${lines.join('')}</g>`
}

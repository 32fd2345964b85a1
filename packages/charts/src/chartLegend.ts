import type { ChartLayout } from './chartLayout.ts'
import { escapeXml } from './escapeText.ts'
import { measureText } from './textMeasure.ts'

interface Told {
  /** Class of the row's arrow, as in the picture. */
  readonly style: string
  readonly text: string
  readonly isBarred?: true
}

const size = 12
const rowHeight = 22
const sample = 30

const told: Readonly<Record<'overview' | 'full', readonly Told[]>> = {
  overview: [
    { style: 'plain ring', text: 'a run, turn by turn' },
    { style: 'plain', text: 'event or condition, in words' },
    { style: 'plain bundle', text: 'from every state' },
    { style: 'runs', text: 'runs: an actor of the state' },
  ],
  full: [
    { style: 'plain', text: 'event [guard that must hold]' },
    { style: 'runs', text: 'runs: an actor of the state' },
  ],
}

const brakes: readonly Told[] = [
  { style: 'open', text: 'brake open' },
  { style: 'shut', text: 'brake shut: never taken', isBarred: true },
  { style: 'brake', text: 'brake' },
]

/** Draws the legend: rows below a picture that explain the marks in it; `height` in pixels. Pure. */
export function chartLegend(
  detail: 'overview' | 'full',
  { width, height, boxes, arrows }: ChartLayout,
): { readonly svg: string; readonly height: number } {
  const written = boxes.flatMap(({ brakes: chips = [], exits = [] }) => [...chips, ...exits])
  const used = new Set([...arrows, ...written].map(({ style }): string => style))
  const items = [...told[detail], ...brakes].filter(({ style }) => style.startsWith('plain') || used.has(style))
  let [x, row] = [16, 0]
  const parts = items.map(({ style, text, isBarred }) => {
    const wide = sample + 8 + measureText(text, size) + 18
    if (x > 16 && x + wide > width) [x, row] = [16, row + 1]
    const y = height + 12 + row * rowHeight
    const bar = isBarred === true ? `<path class="cross" d="M${x + sample - 13} ${y - 6}v12"/>` : ''
    const head = `<path class="head" d="M${x + sample} ${y}l-8 4v-8z"/>`
    const drawn = `<g class="${style}"><path class="arrow" d="M${x} ${y}h${sample - 6}"/>${head}${bar}</g>`
    const part = `${drawn}<text class="told" x="${x + sample + 8}" y="${y + 4}">${escapeXml(text)}</text>`
    x += wide
    return part
  })
  return { svg: `  <g class="legend">${parts.join('')}</g>`, height: 8 + (row + 1) * rowHeight }
}

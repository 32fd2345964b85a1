import type { Row } from '../compare.ts'

const size = { width: 960, height: 440, left: 64, right: 24, top: 44, bottom: 76 }

/** Told apart by hue and by dashes, on white and on black. */
const strokes = [
  '#8a8f98',
  '#2f7fd6',
  '#d9822b',
  '#5f9e1f',
  '#c2476b',
  '#8f63d2',
  '#2a9d8f',
  '#d64545',
  '#4f8a3d',
  '#a0522d',
]

const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

/** A round number near a quarter of the whole. */
function tickOf(most: number): number {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)))
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((tick) => tick >= rough) ?? rough
}

/** A picture of the tokens of each request, a line for each policy. */
export function chartOf(rows: readonly Row[], title: string): string {
  const { width, height, left, right, top, bottom } = size
  const turns = Math.max(1, ...rows.flatMap(({ measures }) => measures.course.map(({ turn }) => turn)))
  const most = Math.max(1, ...rows.map(({ measures }) => measures.peak))
  const tick = tickOf(most)
  const x = (turn: number): number => left + ((width - left - right) * turn) / turns
  const y = (tokens: number): number => height - bottom - ((height - top - bottom) * tokens) / most
  const ticks = Array.from({ length: Math.floor(most / tick) + 1 }, (_, index) => index * tick)
  const grid = ticks.map(
    (tokens) =>
      `<path class="grid" d="M${left} ${y(tokens).toFixed(1)}H${width - right}"/><text x="${left - 8}" y="${(y(tokens) + 4).toFixed(1)}" text-anchor="end">${tokens / 1000}k</text>`,
  )
  const lines = rows.map(({ policy, measures }, index) => {
    const points = measures.course.map(({ turn, tokens }) => `${x(turn).toFixed(1)} ${y(tokens).toFixed(1)}`)
    return `<path class="line" stroke="${strokes[index % strokes.length]}"${dashes(index)} d="M${points.join('L')}"><title>${escape(policy)}</title></path>`
  })
  const perLine = 5
  const legend = rows.map(({ policy }, index) => {
    const at = { x: left + (index % perLine) * 174, y: height - 26 + Math.floor(index / perLine) * 16 }
    return `<path class="line" stroke="${strokes[index % strokes.length]}"${dashes(index)} d="M${at.x} ${at.y - 4}h24"/><text x="${at.x + 30}" y="${at.y}">${escape(policy)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>
  svg { background: #fff; font: 12px system-ui, sans-serif }
  text { fill: #333 }
  .grid { stroke: #ddd; fill: none }
  .line { fill: none; stroke-width: 1.6 }
  @media (prefers-color-scheme: dark) { svg { background: #14161a } text { fill: #ccc } .grid { stroke: #333 } }
</style>
<text x="${left}" y="22" font-size="14">${escape(title)}</text>
<text x="${width - right}" y="${height - bottom + 18}" text-anchor="end">turn ${turns}</text>
<text x="${left}" y="${height - bottom + 18}">tokens of each request, over the session</text>
${[...grid, ...lines, ...legend].join('\n')}
</svg>
`
}

const dashes = (index: number): string => (index < strokes.length / 2 ? '' : ' stroke-dasharray="6 3"')

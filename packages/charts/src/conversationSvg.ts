import { pictureStyle } from './pictureStyle.ts'
import type { ConversationModel } from './conversationModel.ts'
import { conversationRows, stepIds, stepRemarks, type RowNote } from './conversationRows.ts'
import { escapeXml } from './escapeText.ts'
import { fitText, measureText } from './textMeasure.ts'

const width = 800
const rowHeight = 28
const noteHeight = 20
const lane = 20
/** Depth of the last lane. Deeper branches stay in it. */
const lanes = 9
const left = 26
const top = 52

const style = `
    .trunk { stroke: var(--glow); stroke-width: 2.5; fill: none; }
    .gone { stroke: var(--line); stroke-width: 1.75; stroke-dasharray: 4 3; fill: none; }
    .graft { stroke: var(--tag); stroke-width: 1.5; stroke-dasharray: 1 3; fill: none; }
    .on { fill: var(--glow); stroke: var(--paper); stroke-width: 2; }
    .off { fill: var(--paper); stroke: var(--edge); stroke-width: 1.75; }
    .hid { fill: var(--paper); stroke: var(--glow); stroke-width: 2; }
    .head { fill: none; stroke: var(--glow); stroke-width: 1.5; }
    text.id { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; }
    text.said { font-size: 13px; } text.left { font-size: 13px; fill: var(--quiet); }
    text.note { font-size: 12px; fill: var(--tag); }
    text.title { font-size: 15px; font-weight: 600; }`

const noteWords: Readonly<Record<RowNote, string>> = {
  tag: '',
  prune: 'prune ',
  compaction: 'summary ',
  agent: 'sub-agent ',
}

const laneAt = (depth: number): number => left + Math.min(depth, lanes) * lane

/** Draws a conversation as a self-contained picture: the trunk straight down, branches beside it, notes below their step. Pure and linear. */
export function conversationSvg(model: ConversationModel): string {
  const rows = [...conversationRows(model)]
  const depth = rows.reduce((most, row) => Math.max(most, row.depth), 0)
  const x = laneAt(depth) + 26
  const idWidth = model.steps.reduce((most, step) => Math.max(most, measureText(stepIds(step), 12)), 0) + 14
  const places = new Map<string, { x: number; y: number }>()
  const lines: string[] = []
  const marks: string[] = []
  const texts: string[] = []
  let y = top
  for (const row of rows) {
    if (row.type === 'branch') continue
    if (row.type === 'note') {
      const said = fitText(`${noteWords[row.note]}${row.text.replace(/\s+/g, ' ')}`, 12, width - x - idWidth - 20)
      texts.push(`<text class="note" x="${x + idWidth}" y="${y + 10}">${escapeXml(said)}</text>`)
      y += noteHeight
      continue
    }
    const { step } = row
    const at = { x: laneAt(row.depth), y: y + rowHeight / 2 - 4 }
    places.set(step.id, at)
    const parent = step.parent === undefined ? undefined : places.get(step.parent)
    if (parent !== undefined) lines.push(wayTo(parent, at, step.isOnTrunk))
    const kind = step.isOnTrunk ? (step.hiddenBy === undefined ? 'on' : 'hid') : 'off'
    marks.push(`<circle class="${kind}" cx="${at.x}" cy="${at.y}" r="${step.isOnTrunk ? 6 : 5}"/>`)
    if (step.isOnTrunk && step.nodes.at(-1) === model.head)
      marks.push(`<circle class="head" cx="${at.x}" cy="${at.y}" r="10"/>`)
    const said = fitText(step.label + stepRemarks(step), 13, width - x - idWidth - 20)
    texts.push(
      `<text class="id" x="${x}" y="${at.y + 4}">${stepIds(step)}</text><text class="${step.isOnTrunk ? 'said' : 'left'}" x="${x + idWidth}" y="${at.y + 4}">${escapeXml(said)}</text>`,
    )
    y += rowHeight
  }
  for (const { id, copiedFrom } of model.steps) {
    const [from, to] = [copiedFrom === undefined ? undefined : places.get(copiedFrom), places.get(id)]
    if (from !== undefined && to !== undefined) lines.push(copiedTo(from, to))
  }
  const height = y + 16
  const title = escapeXml(`Conversation ${model.title}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" style="max-width:100%;height:auto" role="img" aria-labelledby="title desc">
  <title id="title">${title}</title>
  <desc id="desc">${escapeXml(described(model))}</desc>
  <style>${pictureStyle}${style}
  </style>
  <rect class="paper" width="${width}" height="${height}" rx="8"/>
  <text class="title" x="16" y="28">${escapeXml(fitText(model.title, 16, width - 32))}</text>
  ${[...lines, ...marks, ...texts].join('\n  ')}
</svg>
`
}

function wayTo(from: { x: number; y: number }, to: { x: number; y: number }, isOnTrunk: boolean): string {
  const name = isOnTrunk ? 'trunk' : 'gone'
  if (from.x === to.x) return `<path class="${name}" d="M${from.x} ${from.y}V${to.y}"/>`
  const turn = Math.max(from.y, to.y - 24)
  return `<path class="${name}" d="M${from.x} ${from.y}V${turn}C${from.x} ${to.y - 4} ${to.x} ${turn} ${to.x} ${to.y}"/>`
}

/** Draws the curve from a step to its copy, bulging to the right of both, away from the lines. */
function copiedTo(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const out = Math.max(from.x, to.x) + 14
  return `<path class="graft" d="M${from.x + 6} ${from.y}C${out} ${from.y} ${out} ${to.y} ${to.x + 8} ${to.y}"/>`
}

function described({ steps, compactions, prunes }: ConversationModel): string {
  const onTrunk = steps.filter(({ isOnTrunk }) => isOnTrunk).length
  const tags = steps.reduce((sum, step) => sum + step.tags.length, 0)
  const copies = steps.filter(({ copiedFrom }) => copiedFrom !== undefined).length
  const copied = copies === 0 ? '' : `${copies} of them copies, `
  return `${onTrunk} steps on the trunk, ${copied}${steps.length - onTrunk} abandoned; ${tags} tags, ${prunes.length} prunes, ${compactions.length} compactions.`
}

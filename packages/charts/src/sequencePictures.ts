import type { ActorSequence, SequenceKind, SequenceStep } from './actorSequence.ts'
import { pictureStyle } from './pictureStyle.ts'
import { escapeMermaid, escapeXml } from './escapeText.ts'
import { fitText } from './textMeasure.ts'

const laneWidth = 190
const rowHeight = 34
const left = 64
const top = 64
/** Number of steps above which a picture says how many are left out. The page shows the rest of a long log. */
const mostSteps = 1_000

const style = `
    .life { stroke: var(--line); stroke-width: 1.25; stroke-dasharray: 3 4; }
    .lane { fill: var(--box); stroke: var(--edge); }
    text.who { font-size: 13px; font-weight: 600; } text.what, text.when { font-size: 12px; fill: var(--quiet); }
    text.when { font-variant-numeric: tabular-nums; }
    .step path { fill: none; stroke: var(--edge); stroke-width: 1.5; } .step .tip { fill: var(--edge); stroke: none; } .step text { font-size: 12px; }
    .call path { stroke: var(--glow); stroke-width: 2; } .call .tip { fill: var(--glow); }
    .failure path { stroke: var(--shut); } .failure .tip, .failure text { fill: var(--shut); }
    .asks path { stroke: var(--warn); } .asks .tip { fill: var(--warn); }
    .back path { stroke-dasharray: 5 4; }`

/** Returns true for a step that answers another, which is drawn dashed. */
const isBack = (kind: SequenceKind): boolean =>
  kind === 'result' || kind === 'failure' || kind === 'answer' || kind === 'report'

/** Formats the time since the first step. */
const since = (step: SequenceStep, first: number): string => `+${(Math.max(0, step.time - first) / 1000).toFixed(1)} s`

/** Draws a sequence as a self-contained picture, with time going down. Pure. */
export function sequenceSvg({ lanes, steps }: ActorSequence, title: string): string {
  const shown = steps.slice(0, mostSteps)
  const at = new Map(lanes.map(({ id }, index) => [id, left + laneWidth * (index + 0.5)]))
  const width = Math.max(400, left + laneWidth * lanes.length)
  const height = top + rowHeight * (shown.length + (steps.length > shown.length ? 2 : 1))
  const first = shown[0]?.time ?? 0
  const heads = lanes.map(({ id, label, definition }) => {
    const x = at.get(id)!
    const what =
      definition === undefined
        ? ''
        : `<text class="what" x="${x}" y="46" text-anchor="middle">${escapeXml(fitText(definition, 12, laneWidth - 20))}</text>`
    return `  <path class="life" d="M${x} ${top - 8}V${height - 8}"/><rect class="lane" x="${x - laneWidth / 2 + 8}" y="10" width="${laneWidth - 16}" height="44" rx="8"/><text class="who" x="${x}" y="${definition === undefined ? 37 : 29}" text-anchor="middle">${escapeXml(fitText(label, 13, laneWidth - 28))}</text>${what}`
  })
  const rows = shown.map((step, index) =>
    rowSvg(step, { from: at.get(step.from)!, to: at.get(step.to)!, y: top + rowHeight * (index + 0.8), first }),
  )
  const more = steps.length - shown.length
  const rest = more === 0 ? '' : `  <text class="what" x="${left}" y="${height - 16}">${more} more</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" style="max-width:100%;height:auto" role="img" aria-labelledby="title desc">
  <title id="title">${escapeXml(`Who called whom: ${title}`)}</title>
  <desc id="desc">${escapeXml(`${lanes.length} take part; ${steps.length} messages between them.`)}</desc>
  <style>${pictureStyle}${style}
  </style>
  <rect class="paper" width="${width}" height="${height}" rx="8"/>
${[...heads, ...rows, rest].filter(Boolean).join('\n')}
</svg>
`
}

interface Row {
  readonly from: number
  readonly to: number
  readonly y: number
  readonly first: number
}

function rowSvg(step: SequenceStep, { from, to, y, first }: Row): string {
  const isSelf = from === to
  const ahead = to >= from ? -1 : 1
  const way = isSelf ? `M${from} ${y - 6}h26v12h-20` : `M${from} ${y}H${to + ahead * 8}`
  const tip = isSelf ? `M${from} ${y + 6}l8 -4v8z` : `M${to} ${y}l${ahead * 9} -4.5v9z`
  const room = isSelf ? laneWidth : Math.abs(to - from) - 24
  const text = fitText(step.text, 12, room)
  const place = isSelf ? `x="${from + 32}" y="${y + 4}"` : `x="${(from + to) / 2}" y="${y - 6}" text-anchor="middle"`
  return `  <g class="step ${step.kind}${isBack(step.kind) ? ' back' : ''}"><title>${escapeXml(step.text)}</title><path d="${way}"/><path class="tip" d="${tip}"/><text ${place}>${escapeXml(text)}</text></g><text class="when" x="8" y="${y + 4}">${since(step, first)}</text>`
}

/** Writes a sequence as Mermaid's `sequenceDiagram`, or only the beginning of a long one. Pure. */
export function sequenceMermaid({ lanes, steps }: ActorSequence): string {
  const names = new Map(lanes.map(({ id }, index) => [id, `a${index}`]))
  const shown = steps.slice(0, mostSteps)
  return `${[
    'sequenceDiagram',
    ...lanes.map(
      ({ id, label, definition }) =>
        `  ${id === '' ? 'actor' : 'participant'} ${names.get(id)!} as ${escapeMermaid(label)}${definition === undefined ? '' : ` · ${escapeMermaid(definition)}`}`,
    ),
    ...shown.map(
      ({ from, to, kind, text }) =>
        `  ${names.get(from)!}${kind === 'failure' ? '--x' : isBack(kind) ? '-->>' : '->>'}${names.get(to)!}: ${escapeMermaid(text) || '…'}`,
    ),
    ...(steps.length > shown.length ? [`  Note over a0: ${steps.length - shown.length} more`] : []),
  ].join('\n')}\n`
}

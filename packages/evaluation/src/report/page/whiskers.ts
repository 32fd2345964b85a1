import { escapeXml } from '../../../../charts/src/escapeText.ts'
import type { Figure } from '../../statistics/figure.ts'
import { intervalWords, whyBriefly } from '../words.ts'
import type { Scale } from './scale.ts'

/** A figure of a chart. */
export interface WhiskerRow {
  readonly name: string
  readonly figure: Figure
  /** Colour of the row. Default: neutral. */
  readonly tone?: 'good' | 'bad' | 'quiet'
}

export interface WhiskerChart {
  readonly title: string
  /** Description in a few words. */
  readonly about: string
  readonly rows: readonly WhiskerRow[]
  readonly scale: Scale
  write(value: number): string
}

const at = (percent: number): string => `${percent.toFixed(2)}%`

/** Draws a dot with its interval as a line, across the available width. Its values are written beside it. */
function picture({ value, interval }: Figure, { place, still }: Scale): string {
  const line = (x: number, kind: string): string =>
    `<line class="${kind}" x1="${at(x)}" x2="${at(x)}" y1="0" y2="100%"/>`
  const parts = [
    '<line class="rule" x1="0" x2="100%" y1="50%" y2="50%"/>',
    ...(still === undefined ? [] : [line(place(still), 'still')]),
  ]
  if (interval !== null) {
    const [low, high] = [place(interval.low), place(interval.high)]
    parts.push(`<line class="whisker" x1="${at(low)}" x2="${at(high)}" y1="50%" y2="50%"/>`)
    for (const end of [low, high])
      parts.push(`<line class="whisker" x1="${at(end)}" x2="${at(end)}" y1="30%" y2="70%"/>`)
  }
  if (value !== null) parts.push(`<circle class="dot" cx="${at(place(value))}" cy="50%" r="5"/>`)
  return `<svg class="picture" aria-hidden="true" focusable="false">${parts.join('')}</svg>`
}

function rowHtml({ name, figure, tone }: WhiskerRow, { scale, write }: WhiskerChart): string {
  const interval = intervalWords(figure, write)
  const value = figure.value === null ? '–' : write(figure.value)
  const more = interval === '' ? (figure.value === null ? (figure.why ?? '') : whyBriefly(figure)) : interval
  const words = `<span class="value"><b>${escapeXml(value)}</b> <small>${escapeXml(more)}</small></span>`
  return `<li${tone === undefined ? '' : ` class="${tone}"`}><span class="name" title="${escapeXml(name)}">${escapeXml(name)}</span>${picture(figure, scale)}${words}</li>`
}

/** Renders a chart of dots with whiskers, each with its words beside it. Pure. */
export function whiskerChart(chart: WhiskerChart): string {
  const { title, about, rows, scale, write } = chart
  const ticks = scale.ticks
    .map((tick, index) => `<span class="${['from', 'middle', 'to'][index]}">${escapeXml(write(tick))}</span>`)
    .join('')
  return `<figure class="chart"><figcaption><h3>${escapeXml(title)}</h3><p>${escapeXml(about)}</p></figcaption><ul>${rows.map((row) => rowHtml(row, chart)).join('')}</ul><div class="axis" aria-hidden="true">${ticks}</div></figure>`
}

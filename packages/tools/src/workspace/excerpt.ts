import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'

const contextLines = 2
const maxHunks = 5
const maxLinesShown = 30
const maxLineChars = 200

/** Whole lines of a text, from `start` to `end`, and the indices of the changed places in them, from `first` to before `last`. */
interface Hunk {
  readonly start: number
  end: number
  readonly first: number
  last: number
}

export interface ExcerptOptions {
  readonly oldText: string
  readonly newText: string
  /** Removes secrets from the shown text before lines are cut. */
  readonly clean?: ((text: string) => string) | undefined
}

/** Returns the changed lines in the style of a unified diff, with long lines cut. `places` are sorted and do not overlap. */
export function excerpt(
  before: string,
  places: readonly number[],
  { oldText, newText, clean = (text) => text }: ExcerptOptions,
): string {
  const hunks = hunksOf(before, places, oldText.length)
  let line = 1
  let from = 0
  let shift = 0
  const shown = hunks.slice(0, maxHunks).map((hunk) => {
    line += countNewlines(before, from, hunk.start)
    from = hunk.start
    const old = before.slice(hunk.start, hunk.end).split('\n')
    const now = changed(before, hunk, places, { oldText, newText }).split('\n')
    const rendered = renderHunk(old, now, { line, shift, clean, ...linesAround(before, hunk) })
    shift += rendered.shift
    return rendered.text
  })
  if (hunks.length > maxHunks) shown.push(`… and ${hunks.length - maxHunks} more places`)
  return shown.join('\n')
}

/** Returns the hunks around the places. Takes linear time, since a file may be a single line with a match in every word. */
function hunksOf(before: string, places: readonly number[], oldLength: number): Hunk[] {
  const hunks: Hunk[] = []
  for (const [nth, place] of places.entries()) {
    const end = place + oldLength
    let hunk = hunks.at(-1)
    if (hunk === undefined || place > hunk.end) {
      const start = place === 0 ? 0 : before.lastIndexOf('\n', place - 1) + 1
      hunk = { start, end: -1, first: nth, last: nth }
      hunks.push(hunk)
    }
    hunk.last = nth + 1
    if (end > hunk.end) hunk.end = lineEnd(before, end)
  }
  return hunks
}

/** Returns the lines of a hunk after the change. */
function changed(
  before: string,
  { start, end, first, last }: Hunk,
  places: readonly number[],
  { oldText, newText }: { readonly oldText: string; readonly newText: string },
): string {
  const pieces: string[] = []
  let done = start
  for (const place of places.slice(first, last)) {
    pieces.push(before.slice(done, place))
    done = place + oldText.length
  }
  return [...pieces, before.slice(done, end)].join(newText)
}

/** Returns the nearest lines around a hunk, as context. */
function linesAround(text: string, { start, end }: Hunk): Pick<HunkPlace, 'above' | 'below' | 'isEnd'> {
  const above: string[] = []
  for (let at = start; at > 0 && above.length < contextLines;) {
    const lineStart = at === 1 ? 0 : text.lastIndexOf('\n', at - 2) + 1
    above.unshift(text.slice(lineStart, at - 1))
    at = lineStart
  }
  const below: string[] = []
  for (let at = end + 1; at < text.length && below.length < contextLines;) {
    const next = lineEnd(text, at)
    below.push(text.slice(at, next))
    at = next + 1
  }
  return { above, below, isEnd: end === text.length }
}

interface HunkPlace {
  /** Number of the hunk's first line in the old text, from 1. */
  readonly line: number
  /** Number of lines added by earlier hunks. */
  readonly shift: number
  readonly above: readonly string[]
  readonly below: readonly string[]
  /** True if nothing follows the hunk in the text. */
  readonly isEnd: boolean
  readonly clean: (text: string) => string
}

function renderHunk(
  old: readonly string[],
  now: readonly string[],
  place: HunkPlace,
): { readonly shift: number; readonly text: string } {
  const shorter = Math.min(old.length, now.length)
  let same = 0
  while (same < shorter && old[same] === now[same]) same++
  let tail = 0
  while (tail < shorter - same && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const removed = old.slice(same, old.length - tail)
  const added = now.slice(same, now.length - tail)
  const above = [...place.above, ...old.slice(0, same)].slice(-contextLines)
  const below = [...old.slice(old.length - tail), ...place.below]
  // Text that ends with a newline has no further, empty line.
  if (place.isEnd && old.at(-1) === '') (same === old.length ? above : below).pop()
  const start = place.line + same - above.length
  const around = above.length + Math.min(below.length, contextLines)
  return {
    shift: added.length - removed.length,
    text: [
      `@@ -${start},${around + removed.length} +${start + place.shift},${around + added.length} @@`,
      ...marked(' ', above, place),
      ...marked('-', removed, place),
      ...marked('+', added, place),
      ...marked(' ', below.slice(0, contextLines), place),
    ].join('\n'),
  }
}

function marked(mark: string, given: readonly string[], { clean }: HunkPlace): string[] {
  const lines = given.length === 0 ? given : clean(given.join('\n')).split('\n')
  const shown = lines.slice(0, maxLinesShown).map((line) => mark + cutEnd(line, maxLineChars))
  if (lines.length > shown.length) shown.push(`${mark}… ${lines.length - shown.length} more lines`)
  return shown
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}

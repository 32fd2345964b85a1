const contextLines = 2
const maxHunks = 5
const maxLinesShown = 30
const maxLineChars = 200

/** Whole lines of a text, `start` to `end`, and what they become. */
interface Hunk {
  readonly start: number
  end: number
  after: string
}

/** The changed lines in the manner of a unified diff; long ones are cut. `places` are sorted and do not overlap. */
export function excerpt(before: string, places: readonly number[], oldText: string, newText: string): string {
  const hunks = hunksOf(before, places, oldText, newText)
  const lines = before.split('\n')
  if (lines.at(-1) === '') lines.pop()
  let line = 1
  let from = 0
  let shift = 0
  const shown = hunks.slice(0, maxHunks).map((hunk) => {
    line += countNewlines(before, from, hunk.start)
    from = hunk.start
    const rendered = renderHunk(
      lines,
      line,
      shift,
      before.slice(hunk.start, hunk.end).split('\n'),
      hunk.after.split('\n'),
    )
    shift += rendered.shift
    return rendered.text
  })
  if (hunks.length > maxHunks) shown.push(`… and ${hunks.length - maxHunks} more places`)
  return shown.join('\n')
}

function hunksOf(before: string, places: readonly number[], oldText: string, newText: string): Hunk[] {
  const hunks: Hunk[] = []
  let done = 0
  for (const place of places) {
    const start = place === 0 ? 0 : before.lastIndexOf('\n', place - 1) + 1
    const last = hunks.at(-1)
    const end = place + oldText.length
    const lineEnd = before.indexOf('\n', end) === -1 ? before.length : before.indexOf('\n', end)
    if (last !== undefined && start <= last.end) {
      last.after =
        last.after.slice(0, last.after.length - (last.end - done)) +
        before.slice(done, place) +
        newText +
        before.slice(end, lineEnd)
      last.end = lineEnd
    } else {
      hunks.push({ start, end: lineEnd, after: before.slice(start, place) + newText + before.slice(end, lineEnd) })
    }
    done = end
  }
  return hunks
}

function renderHunk(
  lines: readonly string[],
  line: number,
  shift: number,
  old: readonly string[],
  now: readonly string[],
) {
  const shorter = Math.min(old.length, now.length)
  let same = 0
  while (same < shorter && old[same] === now[same]) same++
  let tail = 0
  while (tail < shorter - same && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const first = line - 1 + same
  const removed = old.slice(same, old.length - tail)
  const added = now.slice(same, now.length - tail)
  const above = lines.slice(Math.max(0, first - contextLines), first)
  const below = lines.slice(first + removed.length, first + removed.length + contextLines)
  const start = first - above.length + 1
  const around = above.length + below.length
  return {
    shift: added.length - removed.length,
    text: [
      `@@ -${start},${around + removed.length} +${start + shift},${around + added.length} @@`,
      ...marked(' ', above),
      ...marked('-', removed),
      ...marked('+', added),
      ...marked(' ', below),
    ].join('\n'),
  }
}

function marked(mark: string, lines: readonly string[]): string[] {
  const shown = lines
    .slice(0, maxLinesShown)
    .map((line) => mark + (line.length > maxLineChars ? `${line.slice(0, maxLineChars)}…` : line))
  if (lines.length > shown.length) shown.push(`${mark}… ${lines.length - shown.length} more lines`)
  return shown
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}

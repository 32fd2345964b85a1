import { excerpt } from './excerpt.ts'
import { toCrlf, toLf, unifyLineEndings } from './lineEndings.ts'
import { placesOf } from './placesOf.ts'
import { mostSimilar } from '../files/similarity.ts'

/** Edit that the model requests. */
export interface TextEdit {
  readonly oldText: string
  readonly newText: string
  /** True to replace every occurrence rather than the only one. */
  readonly all: boolean
  /** Removes secrets from the shown text. */
  readonly clean?: ((text: string) => string) | undefined
}

const byteOrderMark = '\uFEFF'
const mostPlaces = 100_000

/**
 * Replaces exact text, ignoring line endings: the new text gets the file's, and a byte order mark is kept.
 * Returns the new content, the number of replacements and an excerpt of the change.
 * @throws Error with a message for the model: empty search, no change, not found (with the nearest text), or not unique (with lines).
 */
export function replaceText(content: string, edit: TextEdit): { content: string; count: number; excerpt: string } {
  const mark = content.startsWith(byteOrderMark) ? byteOrderMark : ''
  const body = content.slice(mark.length)
  const file = unifyLineEndings(body)
  const hasMark = edit.oldText.startsWith(byteOrderMark)
  const oldText = toLf(withoutMark(edit.oldText))
  // The mark of the file stays, and what stood behind one is not to get another.
  const given = hasMark || (mark !== '' && file.text.startsWith(oldText)) ? withoutMark(edit.newText) : edit.newText
  const newText = toLf(given)
  if (oldText === '') throw new Error('oldText is empty; give the text to replace, or use write_file for a whole file')
  if (oldText === newText)
    throw new Error(
      'oldText and newText are the same: there is nothing to change (line endings are kept as the file has them)',
    )
  const places = findAll(file.text, oldText, edit.all)
  if (places.length > mostPlaces)
    throw new Error(`oldText occurs more than ${mostPlaces} times, too often for one edit; add surrounding text`)
  if (places.length === 0) throw new Error(`oldText was not found. ${nearestText(file.text, oldText, edit.clean)}`)
  if (places.length > 1 && !edit.all) {
    const lines = linesAt(file.text, places)
    throw new Error(
      `oldText occurs ${places.length} times, at lines ${lines}; add surrounding lines to make it unique, or set all to replace each`,
    )
  }
  const inserted = file.usesCrlf
    ? toCrlf(newText)
    : body.includes('\r\n') || edit.oldText.includes('\r\n')
      ? newText
      : given
  const pieces: string[] = []
  let from = 0
  for (const place of places) {
    pieces.push(body.slice(from, file.original(place)))
    from = file.original(place + oldText.length)
  }
  return {
    content: mark + [...pieces, body.slice(from)].join(inserted),
    count: places.length,
    excerpt: excerpt(file.text, places, { oldText, newText, clean: edit.clean }),
  }
}

const withoutMark = (text: string): string => (text.startsWith(byteOrderMark) ? text.slice(1) : text)

function findAll(text: string, wanted: string, all: boolean): number[] {
  const places = placesOf(text, wanted, mostPlaces + 1)
  const [only] = places
  if (only === undefined || places.length > 1 || all) return places
  // Overlapping matches count: "aa" in "aaa" is not unique.
  const [overlapping] = placesOf(text.slice(only + 1), wanted, 1)
  return overlapping === undefined ? places : [only, only + 1 + overlapping]
}

function linesAt(text: string, places: readonly number[]): string {
  const shown = places.slice(0, 20)
  let line = 1
  let from = 0
  const lines = shown.map((place) => {
    for (let at = text.indexOf('\n', from); at !== -1 && at < place; at = text.indexOf('\n', from)) {
      line++
      from = at + 1
    }
    return line
  })
  return [...new Set(lines)].join(', ') + (places.length > shown.length ? ', …' : '')
}

const maxLines = 20_000
const maxLineChars = 200

/** Returns the likely target of a text that was not found: lines that differ only in white space, else the most similar line. */
function nearestText(text: string, wanted: string, clean: (text: string) => string = (line) => line): string {
  const lines = text.split('\n', maxLines)
  const trimmed = lines.map((line) => line.trim())
  const sought = trimmedLines(wanted)
  const same = sought[0] === '' ? -1 : lineOf(trimmed, sought)
  if (same !== -1) {
    const found = lines.slice(same, same + Math.min(sought.length, 10)).join('\n')
    return `It differs only in white space from line ${same + 1}; copy it exactly as it is there:\n${found}`
  }
  const key = sought.find((line) => line !== '') ?? ''
  const candidates = trimmed.map((line) => line.slice(0, maxLineChars))
  const [best] = mostSimilar(key.slice(0, maxLineChars), candidates, { count: 1, atLeast: 0.5 })
  return best === undefined
    ? 'Nothing in the file is similar; read it again with read_file.'
    : `The most similar line is ${best.at + 1}:\n${clean(lines[best.at] ?? '')
        .slice(0, maxLineChars)
        .toWellFormed()}\nRead the file again with read_file and copy the text exactly.`
}

const trimmedLines = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim())

/** Returns the index of the first run of consecutive lines equal to `sought`; -1 if there is none. */
function lineOf(lines: readonly string[], sought: readonly string[]): number {
  const joined = `\n${lines.join('\n')}\n`
  const [place] = placesOf(joined, `\n${sought.join('\n')}\n`, 1)
  return place === undefined ? -1 : joined.slice(0, place).split('\n').length - 1
}

import { placesOf } from './placesOf.ts'
import { mostSimilar } from './similarity.ts'

const maxLines = 20_000
const maxLineChars = 200

/** The likely target of a text that was not found: lines that differ only in white space, else the most similar line. */
export function nearestText(text: string, wanted: string, clean: (text: string) => string = (line) => line): string {
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

/** Index of the first run of consecutive lines equal to `sought`; -1 if there is none. */
function lineOf(lines: readonly string[], sought: readonly string[]): number {
  const joined = `\n${lines.join('\n')}\n`
  const [place] = placesOf(joined, `\n${sought.join('\n')}\n`, 1)
  return place === undefined ? -1 : joined.slice(0, place).split('\n').length - 1
}

import { similarity } from './similarity.ts'

const maxLines = 20_000
const maxLineChars = 200

/** Where a text that was not found may have been meant: lines that differ in white space only, else the most similar line. */
export function nearestText(text: string, wanted: string): string {
  const lines = text.split('\n', maxLines)
  const trimmed = lines.map((line) => line.trim())
  const sought = wanted
    .trim()
    .split('\n')
    .map((line) => line.trim())
  const same = trimmed.findIndex((_, at) => sought.every((line, i) => trimmed[at + i] === line))
  if (same !== -1 && sought[0] !== '') {
    const found = lines.slice(same, same + Math.min(sought.length, 10)).join('\n')
    return `It differs only in white space from line ${same + 1}; copy it exactly as it is there:\n${found}`
  }
  const key = (sought.find((line) => line !== '') ?? '').slice(0, maxLineChars)
  let best = { score: 0.5, at: -1 }
  trimmed.forEach((line, at) => {
    const candidate = line.slice(0, maxLineChars)
    // No pair of texts of such different lengths can be this similar.
    if ((2 * Math.min(candidate.length, key.length)) / (candidate.length + key.length) < best.score) return
    const score = similarity(candidate, key)
    if (score > best.score) best = { score, at }
  })
  return best.at === -1
    ? 'Nothing in the file is similar; read it again with read_file.'
    : `The most similar line is ${best.at + 1}:\n${(lines[best.at] ?? '').slice(0, maxLineChars)}\nRead the file again with read_file and copy the text exactly.`
}

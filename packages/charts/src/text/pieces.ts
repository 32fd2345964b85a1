/** A part of a text that is parsed by itself. */
export interface Piece {
  /** `code`: text between fences; `plain`: text that is too long to be parsed. */
  readonly type: 'markdown' | 'code' | 'plain'
  readonly text: string
  readonly language: string
  /** Index of the part's first character in the text. */
  readonly start: number
}

/** Number of characters after which a piece ends with its line, wherever that is. */
const mostPiece = 8_000

const fence = /^(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s{]*)/
const innerFence = /^(?:[ \t]+|[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(`{3,}|~{3,})/
const listMark = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/

const isBlank = (line: string): boolean => line.trim() === ''

/**
 * Splits a text (with `\n`) from `from` on into independent parts. A part begins at a line at the left margin that
 * follows an empty line and belongs to no open list or fence. A text that grows changes only its last part. Linear.
 */
export function piecesOf(text: string, from = 0): readonly Piece[] {
  const pieces: Piece[] = []
  /** Start of the current piece; true if it is a list; the fence that is open inside it. */
  let start = from
  let isList = false
  let inner: string | undefined
  let isAfterBlank = false
  const end = (at: number): void => {
    const part = text.slice(start, at)
    if (!isBlank(part)) {
      const type = longestLine(part) > mostPiece ? 'plain' : 'markdown'
      pieces.push({ type, text: part, language: '', start })
    }
    start = at
    inner = undefined
    isAfterBlank = false
  }
  for (let at = from; at < text.length;) {
    const next = afterLine(text, at)
    const line = lineAt(text, at, next)
    const opened = next - at > mostLine ? null : fence.exec(line)
    if (opened !== null && inner === undefined) {
      end(at)
      const code = codeAfter(text, next, opened[1]!)
      pieces.push({ type: 'code', text: code.text, language: opened[2]!.toLowerCase(), start: at })
      at = code.end
      start = at
      continue
    }
    const isMark = listMark.test(line)
    const isNew = isAfterBlank && inner === undefined && /^\S/.test(line) && !(isList && isMark)
    if (at > start && (isNew || at - start > mostPiece)) end(at)
    if (at === start) isList = isMark
    inner = innerAfter(line, inner)
    isAfterBlank = isBlank(line)
    at = next
  }
  end(text.length)
  return pieces
}

function innerAfter(line: string, open: string | undefined): string | undefined {
  const found = innerFence.exec(line)?.[1]
  if (found === undefined) return open
  if (open === undefined) return found
  return found[0] === open[0] && found.length >= open.length ? undefined : open
}

const afterLine = (text: string, at: number): number => {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

/** Number of characters that are read of a line to tell its kind; a longer line is no fence. */
const mostLine = 1_000

/** Returns the line from `at` on, or only the beginning of a very long one. */
const lineAt = (text: string, at: number, next: number): string =>
  text.slice(at, Math.min(next, at + mostLine)).replace(/\n$/, '')

/** Returns the lines up to the closing fence or the end; `end`: the index after them. */
function codeAfter(text: string, from: number, opening: string): { readonly text: string; readonly end: number } {
  const mark = opening[0]!
  for (let at = from; at < text.length;) {
    const next = afterLine(text, at)
    const line = lineAt(text, at, next).trim()
    if (line.length >= opening.length && line === mark.repeat(line.length))
      return { text: text.slice(from, Math.max(from, at - 1)), end: next }
    at = next
  }
  return { text: text.slice(from).replace(/\n$/, ''), end: text.length }
}

function longestLine(text: string): number {
  let longest = 0
  for (let at = 0; at < text.length;) {
    const next = afterLine(text, at)
    longest = Math.max(longest, next - at)
    at = next
  }
  return longest
}

import { shortestEdit } from './shortestEdit.ts'

/** A part of two texts: in both, or only in one. */
export interface WordPart {
  readonly type: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Number of changed words above which words are not matched: matching costs the square of that number. */
const mostChanges = 400

/** Matches words, single characters of scripts without word spaces, spaces, and every other character by itself. */
const wordPattern =
  /\s+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu

/**
 * Returns the changes from one text to another, word by word; the parts of either text put together are that text. If too much has changed,
 * everything between the first and the last change is one removed and one added part. Costs the length of the texts and, up to a limit, the
 * square of the number of changes. Pure.
 */
export function wordDiff(before: string, after: string): readonly WordPart[] {
  if (before === after) return before === '' ? [] : [{ type: 'same', text: before }]
  const a = before.match(wordPattern) ?? []
  const b = after.match(wordPattern) ?? []
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const parts = new Parts()
  parts.add('same', a.slice(0, start))
  const middleA = a.slice(start, a.length - end)
  const middleB = b.slice(start, b.length - end)
  const steps = shortestEdit(middleA, middleB, mostChanges)
  if (steps === undefined) {
    parts.add('removed', middleA)
    parts.add('added', middleB)
  }
  let x = 0
  let y = 0
  for (const step of steps ?? []) {
    parts.add(step, [step === 'added' ? middleB[y]! : middleA[x]!])
    if (step !== 'added') x++
    if (step !== 'removed') y++
  }
  parts.add('same', a.slice(a.length - end))
  return parts.all()
}

/** Collects the parts, removed before added ones; a space between two changes is part of both. */
class Parts {
  readonly #parts: WordPart[] = []
  #removed = ''
  #added = ''
  /** Equal spaces after a change, held until the next part is known. */
  #space = ''

  add(type: WordPart['type'], words: readonly string[]): void {
    if (words.length === 0) return
    const text = words.join('')
    if (type === 'same') {
      const isChanging = this.#removed !== '' || this.#added !== ''
      if (isChanging && /^[^\S\n]+$/.test(text)) this.#space += text
      else {
        this.#flush()
        this.#push('same', text)
      }
      return
    }
    if (this.#space !== '') {
      this.#removed += this.#space
      this.#added += this.#space
      this.#space = ''
    }
    if (type === 'removed') this.#removed += text
    else this.#added += text
  }

  all(): readonly WordPart[] {
    this.#flush()
    return this.#parts
  }

  #flush(): void {
    this.#push('removed', this.#removed)
    this.#push('added', this.#added)
    this.#push('same', this.#space)
    this.#removed = this.#added = this.#space = ''
  }

  #push(type: WordPart['type'], text: string): void {
    const last = this.#parts.at(-1)
    if (text === '') return
    if (last?.type === type) this.#parts[this.#parts.length - 1] = { type, text: last.text + text }
    else this.#parts.push({ type, text })
  }
}

import { shortestEdit, type EditStep } from './shortestEdit.ts'

export interface DiffLine {
  readonly type: EditStep
  readonly text: string
}

/** A group of changes with the lines around them. */
export interface DiffHunk {
  /** Number of the hunk's first line in the old text, from 1. */
  readonly before: number
  readonly after: number
  readonly lines: readonly DiffLine[]
}

export interface LineDiff {
  readonly added: number
  readonly removed: number
  readonly hunks: readonly DiffHunk[]
  /** True if too much has changed to say which lines stayed: all lines between the first and the last change count as changed. */
  readonly isCoarse: boolean
}

/** Number of changed lines above which lines are not matched: matching costs the square of that number. */
const mostChanges = 500

/**
 * Returns the changes from one text to another, line by line, as a unified difference with `context` lines around them (3 unless told).
 * Costs the length of the texts and, up to a limit, the square of the number of changes. Pure.
 */
export function lineDiff(before: string, after: string, context = 3): LineDiff {
  const a = linesOf(before)
  const b = linesOf(after)
  const start = sameAtStart(a, b)
  const end = sameAtEnd(a, b, start)
  const middleA = a.slice(start, a.length - end)
  const middleB = b.slice(start, b.length - end)
  const matched = shortestEdit(middleA, middleB, mostChanges)
  const steps = matched ?? [...middleA.map(() => 'removed' as const), ...middleB.map(() => 'added' as const)]
  return {
    added: steps.filter((step) => step === 'added').length,
    removed: steps.filter((step) => step === 'removed').length,
    hunks: hunksOf(a, b, { start, steps, context }),
    isCoarse: matched === undefined,
  }
}

/** Returns the lines of a text, without the empty one after the last line break. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.replace(/\r\n/g, '\n').split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function sameAtStart(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < a.length && count < b.length && a[count] === b[count]) count++
  return count
}

function sameAtEnd(a: readonly string[], b: readonly string[], start: number): number {
  let count = 0
  while (count < a.length - start && count < b.length - start && a.at(-1 - count) === b.at(-1 - count)) count++
  return count
}

interface Script {
  readonly start: number
  readonly steps: readonly EditStep[]
  readonly context: number
}

function hunksOf(a: readonly string[], b: readonly string[], { start, steps, context }: Script): readonly DiffHunk[] {
  const hunks: { before: number; after: number; lines: DiffLine[] }[] = []
  let x = start
  let y = start
  /** End, in `a`, of the lines that the current hunk shows after its last change. */
  let until = -1
  const same = (line: number): DiffLine => ({ type: 'same', text: a[line]! })
  const closeAt = (line: number): void => {
    for (; until >= 0 && until < line; until++) hunks.at(-1)!.lines.push(same(until))
  }
  for (const step of steps) {
    if (step === 'same') {
      x++
      y++
      continue
    }
    const lead = Math.max(0, x - context)
    if (until < 0 || lead > until + context) {
      closeAt(Math.min(until + context, a.length))
      const shift = y - x
      hunks.push({ before: lead + 1, after: lead + shift + 1, lines: [] })
      until = lead
    }
    closeAt(x)
    hunks.at(-1)!.lines.push({ type: step, text: step === 'added' ? b[y]! : a[x]! })
    if (step === 'added') y++
    else x++
    until = x
  }
  closeAt(Math.min(until + context, a.length))
  return hunks
}

export interface DiffLine {
  readonly type: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Changes with the lines around them. */
export interface DiffHunk {
  /** Number of its first line in either text, from 1. */
  readonly before: number
  readonly after: number
  readonly lines: readonly DiffLine[]
}

export interface LineDiff {
  readonly added: number
  readonly removed: number
  readonly hunks: readonly DiffHunk[]
  /** Too much has changed to say which lines stayed: all between the first and the last change count as changed. */
  readonly isCoarse: boolean
}

/** Changed lines beyond which they are no longer matched with one another: it costs their square. */
const mostChanges = 500

/**
 * What became of one text, line by line, as a unified difference with `context` lines around the changes (3 unless told). Costs the
 * length of the texts and, up to a limit, the square of the number of changes. Pure.
 */
export function lineDiff(before: string, after: string, context = 3): LineDiff {
  const a = linesOf(before)
  const b = linesOf(after)
  const start = sameAtStart(a, b)
  const end = sameAtEnd(a, b, start)
  const middleA = a.slice(start, a.length - end)
  const middleB = b.slice(start, b.length - end)
  const matched = shortestEdit(...numbered(middleA, middleB))
  const steps = matched ?? [...middleA.map(() => 'removed' as const), ...middleB.map(() => 'added' as const)]
  return {
    added: steps.filter((step) => step === 'added').length,
    removed: steps.filter((step) => step === 'removed').length,
    hunks: hunksOf(a, b, { start, steps, context }),
    isCoarse: matched === undefined,
  }
}

/** Without the empty one after the last line break. */
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

/** Equal lines have equal numbers, which are quick to compare. */
function numbered(a: readonly string[], b: readonly string[]): [readonly number[], readonly number[]] {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size
    numbers.set(line, known)
    return known
  }
  return [a.map(numberOf), b.map(numberOf)]
}

type Step = DiffLine['type']

/** The shortest way from one list to the other (Myers' greedy algorithm); `undefined` when it takes more than `mostChanges`. */
function shortestEdit(a: readonly number[], b: readonly number[]): readonly Step[] | undefined {
  const most = Math.min(a.length + b.length, mostChanges)
  /** After so many changes: how far it gets in `a` on each diagonal, which is how much more of `a` was passed than of `b`. */
  const reached: Int32Array[] = []
  let last = new Int32Array(3)
  for (let changes = 0; changes <= most; changes++) {
    const now = new Int32Array(2 * changes + 3)
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = changes === 0 ? 0 : firstOf(last, changes, diagonal)
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++
      now[diagonal + changes + 1] = x
      if (x >= a.length && x - diagonal >= b.length) return stepsBack(reached, a.length, b.length)
    }
    reached.push(now)
    last = now
  }
  return undefined
}

/** `last` is of one change less: its middle is at `changes`. */
const isAdded = (last: Int32Array, changes: number, diagonal: number): boolean =>
  diagonal === -changes || (diagonal !== changes && last[diagonal - 1 + changes]! < last[diagonal + 1 + changes]!)

const firstOf = (last: Int32Array, changes: number, diagonal: number): number =>
  isAdded(last, changes, diagonal) ? last[diagonal + 1 + changes]! : last[diagonal - 1 + changes]! + 1

function stepsBack(reached: readonly Int32Array[], lengthA: number, lengthB: number): readonly Step[] {
  const steps: Step[] = []
  let x = lengthA
  let y = lengthB
  for (let changes = reached.length; changes > 0; changes--) {
    const last = reached[changes - 1]!
    const step = isAdded(last, changes, x - y) ? 'added' : 'removed'
    const from = firstOf(last, changes, x - y)
    for (; x > from; x--, y--) steps.push('same')
    steps.push(step)
    if (step === 'added') y--
    else x--
  }
  for (; x > 0; x--) steps.push('same')
  return steps.toReversed()
}

interface Script {
  readonly start: number
  readonly steps: readonly Step[]
  readonly context: number
}

function hunksOf(a: readonly string[], b: readonly string[], { start, steps, context }: Script): readonly DiffHunk[] {
  const hunks: { before: number; after: number; lines: DiffLine[] }[] = []
  let x = start
  let y = start
  /** Where the lines end that the hunk under way shows after its last change, in `a`. */
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

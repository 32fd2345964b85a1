/** Change of an item on the way from one list to another. */
export type EditStep = 'same' | 'added' | 'removed'

/**
 * Returns the shortest way from one list to the other (Myers' greedy algorithm); `undefined` when it takes more than `mostChanges`
 * additions and removals, as it costs their square. Pure.
 */
export function shortestEdit(
  before: readonly string[],
  after: readonly string[],
  mostChanges: number,
): readonly EditStep[] | undefined {
  const [a, b] = numbered(before, after)
  return shortest(a, b, mostChanges)
}

/** Numbers the items: equal items have equal numbers, which are quick to compare. */
function numbered(a: readonly string[], b: readonly string[]): [readonly number[], readonly number[]] {
  const numbers = new Map<string, number>()
  const numberOf = (item: string): number => {
    const known = numbers.get(item) ?? numbers.size
    numbers.set(item, known)
    return known
  }
  return [a.map(numberOf), b.map(numberOf)]
}

function shortest(a: readonly number[], b: readonly number[], mostChanges: number): readonly EditStep[] | undefined {
  const most = Math.min(a.length + b.length, mostChanges)
  /** Farthest index in `a` on each diagonal, by the number of changes. A diagonal is the index in `a` minus the index in `b`. */
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

/** Returns true if the way to a diagonal ends with an addition. `last`: after one change less, centered at `changes`. */
const isAdded = (last: Int32Array, changes: number, diagonal: number): boolean =>
  diagonal === -changes || (diagonal !== changes && last[diagonal - 1 + changes]! < last[diagonal + 1 + changes]!)

const firstOf = (last: Int32Array, changes: number, diagonal: number): number =>
  isAdded(last, changes, diagonal) ? last[diagonal + 1 + changes]! : last[diagonal - 1 + changes]! + 1

function stepsBack(reached: readonly Int32Array[], lengthA: number, lengthB: number): readonly EditStep[] {
  const steps: EditStep[] = []
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

import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { SameMessages } from './sameMessages.ts'

/** Messages of two trunks beside each other; where only one trunk has a message, the other side is empty. */
export interface ComparedRow {
  readonly left?: ConversationNode
  readonly right?: ConversationNode
  readonly isSame: boolean
}

/** Two trunks beside each other. */
export interface ComparedTrunks {
  /** Number of equal rows at the beginning. */
  readonly shared: number
  readonly rows: readonly ComparedRow[]
  /** Number of `rows` that differ. */
  readonly different: number
  /** True if the trunks are too long to match: their messages stand in order. */
  readonly isCoarse: boolean
}

/** Limit of the pairs of messages that are compared to match them. */
const mostPairs = 1_000_000

/** Scores of a pair of messages: they say the same, come from the same tool or use the same tools, or have the same role. */
const fits = { same: 8, kind: 3, role: 1 } as const

/**
 * Sets two trunks side by side. Equal messages at the beginning are shared; after that equal messages, and else those of the same role and
 * tools, stand in one row, in their order. Ids of messages and calls do not matter. Pure.
 */
export function compareTrunks(
  left: readonly ConversationNode[],
  right: readonly ConversationNode[],
  same = new SameMessages(),
): ComparedTrunks {
  let shared = 0
  while (shared < left.length && shared < right.length && same.areSame(left[shared]!.message, right[shared]!.message))
    shared++
  const rows: ComparedRow[] = []
  for (let at = 0; at < shared; at++) rows.push({ left: left[at]!, right: right[at]!, isSame: true })
  const a = left.slice(shared)
  const b = right.slice(shared)
  const isCoarse = a.length * b.length > mostPairs
  for (const [x, y] of isCoarse ? inOrder(a, b) : bestPairs(a, b, same)) {
    const one = x === undefined ? undefined : a[x]
    const other = y === undefined ? undefined : b[y]
    rows.push({
      ...(one === undefined ? {} : { left: one }),
      ...(other === undefined ? {} : { right: other }),
      isSame: one !== undefined && other !== undefined && same.areSame(one.message, other.message),
    })
  }
  return { shared, rows, different: rows.filter(({ isSame }) => !isSame).length, isCoarse }
}

/** Places in either list, in order. */
type Pair = readonly [number | undefined, number | undefined]

function* inOrder(a: readonly ConversationNode[], b: readonly ConversationNode[]): Generator<Pair> {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const one = a[at]
    const other = b[at]
    if (one !== undefined && other !== undefined && one.message.role === other.message.role) yield [at, at]
    else {
      if (one !== undefined) yield [at, undefined]
      if (other !== undefined) yield [undefined, at]
    }
  }
}

/** Finds the pairs that fit best together. Costs the product of the lengths. */
function bestPairs(
  a: readonly ConversationNode[],
  b: readonly ConversationNode[],
  same: SameMessages,
): readonly Pair[] {
  const fit = (x: number, y: number): number => {
    const one = a[x]!.message
    const other = b[y]!.message
    if (one.role !== other.role) return 0
    if (same.kindOf(one) !== same.kindOf(other)) return fits.role
    return same.numberOf(one) === same.numberOf(other) ? fits.same : fits.kind
  }
  const width = b.length + 1
  /** Best score of the rest of both lists, from each pair of places on. */
  const best = new Uint32Array((a.length + 1) * width)
  for (let x = a.length - 1; x >= 0; x--)
    for (let y = b.length - 1; y >= 0; y--) {
      const here = fit(x, y)
      const paired = here === 0 ? 0 : here + best[(x + 1) * width + y + 1]!
      best[x * width + y] = Math.max(paired, best[(x + 1) * width + y]!, best[x * width + y + 1]!)
    }
  const pairs: Pair[] = []
  let x = 0
  let y = 0
  while (x < a.length && y < b.length) {
    const here = fit(x, y)
    if (here > 0 && best[x * width + y] === here + best[(x + 1) * width + y + 1]!) pairs.push([x++, y++])
    else if (best[x * width + y] === best[(x + 1) * width + y]) pairs.push([x++, undefined])
    else pairs.push([undefined, y++])
  }
  for (; x < a.length; x++) pairs.push([x, undefined])
  for (; y < b.length; y++) pairs.push([undefined, y])
  return pairs
}

/** How alike two texts are by their pairs of neighbouring characters, case ignored: 0 (nothing shared) to 1 (equal). */
export function similarity(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  if (left === right) return 1
  if (left.length < 2 || right.length < 2) return 0
  const pairs = new Map<string, number>()
  for (let i = 0; i < left.length - 1; i++) {
    const pair = left.slice(i, i + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  let shared = 0
  for (let i = 0; i < right.length - 1; i++) {
    const pair = right.slice(i, i + 2)
    const unmatched = pairs.get(pair) ?? 0
    if (unmatched > 0) shared++
    pairs.set(pair, unmatched - 1)
  }
  return (2 * shared) / (left.length + right.length - 2)
}

/** Up to `count` of the candidates most like `text`, best first, each at least `atLeast` alike. */
export const mostSimilar = (text: string, candidates: readonly string[], count: number, atLeast = 0.4): string[] =>
  candidates
    .map((candidate) => ({ candidate, score: similarity(text, candidate) }))
    .filter(({ score }) => score >= atLeast)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count)
    .map(({ candidate }) => candidate)

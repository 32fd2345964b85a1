/** Maximum number of characters that are compared over all candidates. */
const mostCompared = 250_000

/** Returns a function that compares texts with `text` by character bigrams, ignoring case: 0 (nothing shared) to 1 (equal). */
export function similarityTo(text: string): (candidate: string) => number {
  const wanted = text.toLowerCase()
  const pairs = new Map<number, number>()
  for (let i = 0; i < wanted.length - 1; i++) {
    const pair = pairAt(wanted, i)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return (candidate) => {
    const other = candidate.toLowerCase()
    if (wanted === other) return 1
    if (wanted.length < 2 || other.length < 2) return 0
    const taken = new Map<number, number>()
    let shared = 0
    for (let i = 0; i < other.length - 1; i++) {
      const pair = pairAt(other, i)
      const count = pairs.get(pair)
      if (count === undefined) continue
      const before = taken.get(pair) ?? 0
      taken.set(pair, before + 1)
      if (before < count) shared++
    }
    return (2 * shared) / (wanted.length + other.length - 2)
  }
}

const pairAt = (text: string, at: number): number => text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1)

/**
 * Returns the `count` candidates most similar to `text`, best first, with their indices. Each scores at least `atLeast`. Of very many candidates only
 * the first are compared.
 */
export function mostSimilar(
  text: string,
  candidates: readonly string[],
  { count, atLeast = 0.4 }: { readonly count: number; readonly atLeast?: number },
): { readonly candidate: string; readonly at: number }[] {
  const scoreOf = similarityTo(text)
  const found: { candidate: string; at: number; score: number }[] = []
  let compared = 0
  for (const [at, candidate] of candidates.entries()) {
    // Texts of such different lengths cannot be this similar.
    if ((2 * Math.min(candidate.length, text.length)) / (candidate.length + text.length) < atLeast) continue
    compared += candidate.length
    if (compared > mostCompared) break
    const score = scoreOf(candidate)
    if (score >= atLeast) found.push({ candidate, at, score })
  }
  return found.toSorted((a, b) => b.score - a.score).slice(0, count)
}

/** Returns the edit distance between two words: insertions, deletions, replacements and transpositions. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1)
      row.push(best)
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/** Returns the word most similar to `word`, if at most a third of its letters differ. */
export const nearestWord = (word: string, words: readonly string[]): string | undefined => nearWords(word, words)[0]

/** Returns all words that are close enough, the closest first. */
export const nearWords = (word: string, words: readonly string[]): string[] =>
  words
    .map((other) => ({ other, distance: editDistance(word, other) }))
    .filter(({ other, distance }) => distance <= Math.max(1, Math.floor(Math.max(word.length, other.length) / 3)))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ other }) => other)

/** Returns a message about an unknown field, with similar existing names. Pure. */
export function unknownField(name: string, names: readonly string[]): string {
  const nearest = nearestWord(name, names)
  const hint = nearest === undefined ? `there are: ${names.join(', ')}` : `did you mean "${nearest}"?`
  return `"${name}" is not known; ${hint}`
}

/** A way to sort, as the policy model knows it. */
export interface SortWay {
  readonly name: string
  /** Why it may be too slow, for a note to oneself. */
  readonly cost: string
  readonly program: string
}

/** In the order in which they come to mind. */
export const sortWays: readonly SortWay[] = [
  {
    name: 'bubble sort',
    cost: 'it needs about n² steps',
    program: `// bubble sort
export function sort(numbers) {
  const sorted = [...numbers]
  for (let end = sorted.length - 1; end > 0; end--) {
    for (let i = 0; i < end; i++) {
      const here = sorted[i]
      if (here <= sorted[i + 1]) continue
      sorted[i] = sorted[i + 1]
      sorted[i + 1] = here
    }
  }
  return sorted
}
`,
  },
  {
    name: 'merge sort',
    cost: 'it needs about n·log n steps',
    program: `// merge sort
export function sort(numbers) {
  if (numbers.length < 2) return [...numbers]
  const middle = numbers.length >> 1
  const left = sort(numbers.slice(0, middle))
  const right = sort(numbers.slice(middle))
  const merged = []
  let [i, j] = [0, 0]
  while (i < left.length && j < right.length) merged.push(left[i] <= right[j] ? left[i++] : right[j++])
  while (i < left.length) merged.push(left[i++])
  while (j < right.length) merged.push(right[j++])
  return merged
}
`,
  },
]

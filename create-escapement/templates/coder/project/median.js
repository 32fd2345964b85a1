/** The number in the middle; of two the mean. */
export function median(numbers) {
  const sorted = numbers.toSorted()
  const middle = sorted.length / 2
  return Number.isInteger(middle) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)]
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Returns the mean, and its standard error as if the values were independent; the error of a single value is `NaN`. Pure. */
export function meanOf(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = sumOf(values) / values.length
  const squares = sumOf(values.map((value) => (value - mean) ** 2))
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) }
}

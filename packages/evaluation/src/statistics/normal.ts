/** Half the width of a 95 % interval, in standard errors of a normal distribution. */
export const z95 = 1.959963984540054

/** Returns the share of a standard normal distribution below `x`, from its series; exact to 1e-15. */
export function normalBelow(x: number): number {
  if (x < -38) return 0
  if (x > 38) return 1
  let term = x
  let sum = x
  for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd
    sum += term
  }
  const share = 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)
  return Math.min(1, Math.max(0, share))
}

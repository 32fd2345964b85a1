/**
 * Returns the share of Student's t distribution between `-t` and `t`, for a whole number of degrees of freedom: a finite sum (Abramowitz and Stegun,
 * 26.7.3 and 26.7.4). Pure.
 */
export function tWithin(t: number, degrees: number): number {
  const angle = Math.atan(Math.abs(t) / Math.sqrt(degrees))
  const cosine = Math.cos(angle)
  const squared = cosine * cosine
  const isOdd = degrees % 2 === 1
  let term = isOdd ? cosine : 1
  let sum = degrees === 1 ? 0 : term
  for (let step = isOdd ? 3 : 2; step <= degrees - 2; step += 2) {
    term *= (squared * (step - 1)) / step
    sum += term
  }
  const share = isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum
  return Math.min(1, share)
}

const known = new Map<string, number>()

/** Returns the number of standard errors that hold a share of Student's t distribution around its middle: 2.776… for .95 and 4 degrees of freedom. */
export function tQuantile(share: number, degrees: number): number {
  const key = `${share} ${degrees}`
  const before = known.get(key)
  if (before !== undefined) return before
  let low = 0
  let high = 1
  while (tWithin(high, degrees) < share) high *= 2
  for (let step = 0; step < 200 && high - low > 1e-13 * high; step += 1) {
    const middle = (low + high) / 2
    if (tWithin(middle, degrees) < share) low = middle
    else high = middle
  }
  const quantile = (low + high) / 2
  known.set(key, quantile)
  return quantile
}

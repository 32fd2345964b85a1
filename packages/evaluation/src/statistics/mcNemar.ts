/**
 * McNemar's exact test, two-sided: the probability of a split of the discordant pairs at least this uneven if either side is as likely. 1 without
 * such pairs. Pure.
 */
export function mcNemar(onlyFirst: number, onlySecond: number): number {
  const pairs = onlyFirst + onlySecond
  const fewer = Math.min(onlyFirst, onlySecond)
  let term = -pairs * Math.LN2
  let tail = 0
  for (let index = 0; index <= fewer; index += 1) {
    tail += Math.exp(term)
    term += Math.log((pairs - index) / (index + 1))
  }
  return Math.min(1, 2 * tail)
}

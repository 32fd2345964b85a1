import { performance } from 'node:perf_hooks'

/** CPU microseconds (user + system) that `work` took. */
export async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

export interface Pair {
  readonly ours: number
  readonly floor: number
  readonly ratio: number
}

/** Runs two contenders in turn, A B A B …, after one warm-up of each, and gives the medians and the median ratio. */
export async function paired(ours: () => Promise<unknown>, floor: () => Promise<unknown>, rounds = 9): Promise<Pair> {
  await ours()
  await floor()
  const figures: Pair[] = []
  for (let round = 0; round < rounds; round++) {
    const a = await cpuOf(ours)
    const b = await cpuOf(floor)
    figures.push({ ours: a, floor: b, ratio: a / Math.max(1, b) })
  }
  const pick = (key: keyof Pair): number => median(figures.map((figure) => figure[key]))
  return { ours: pick('ours'), floor: pick('floor'), ratio: pick('ratio') }
}

export const format = (value: number, digits = 1): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits })

export const now = (): number => performance.now()

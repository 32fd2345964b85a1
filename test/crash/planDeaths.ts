import type { Death, Scenario } from './crashDriver.ts'
import { killModes } from './killingStore.ts'

export interface DeathPlan {
  /** Records of an undisturbed job, and its milliseconds. */
  readonly records: number
  readonly ms: number
  /** Deaths wanted in all; by default every record boundary, and a quarter as many random moments. */
  readonly kills?: number | undefined
  readonly seed: number
}

/** Deaths of one job: enough that what a crash left is crashed again. */
const deathsAJob = 6

/** Numbers from 0 to 1, the same ones for a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Positions in scenarios of ascending ones, far apart, so that each is reached however much a recovery writes. */
function spread(positions: readonly number[]): number[][] {
  const sorted = positions.toSorted((a, b) => a - b)
  const count = Math.ceil(sorted.length / deathsAJob)
  return Array.from({ length: count }, (_, first) => sorted.filter((_position, index) => index % count === first))
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
}

/** Scenarios in which a job dies around each of its records, in one mode after the other, and at random moments. */
export function planDeaths({ records, ms, kills, seed }: DeathPlan): Scenario[] {
  const random = randomNumbers(seed)
  const moments = Math.ceil(kills === undefined ? records / 4 : kills / 5)
  const boundaries = kills === undefined ? records : kills - moments
  const all = Array.from({ length: records }, (_, index) => index + 1)
  const scenarios: Scenario[] = []
  for (let left = boundaries, pass = 0; left > 0; left -= records, pass += 1) {
    for (const positions of spread(shuffled(all, random).slice(0, left)))
      scenarios.push({
        deaths: positions.map((at): Death => ({ mode: killModes[(at + seed + pass) % killModes.length]!, at })),
      })
  }
  for (let left = moments; left > 0; left -= deathsAJob / 2)
    scenarios.push({
      deaths: Array.from({ length: Math.min(left, deathsAJob / 2) }, () => ({ mode: 'timer', ms: random() * ms })),
    })
  return scenarios
}

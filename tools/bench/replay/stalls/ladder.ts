import { measureReplay } from '../measure/measureReplay.ts'
import { costOf, type PriceRatios } from '../measure/prices.ts'
import { BlockTable } from '../measure/requestBlocks.ts'
import type { AgentShape } from '../policies/policy.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { replay, type Replay } from '../replay.ts'
import { isStalled, type Scenario } from './generate/scenario.ts'
import { react, type Reacted } from './react.ts'

/** Cost of a run with the ladder, relative to the same run without it. */
export interface Compared {
  readonly costX: number
  readonly off: number
  readonly on: number
  readonly isPaused: boolean
}

/** Replays a recorded run with the ladder: the model says what it said, whatever it is told, until the run is paused. */
export async function compareRecorded(session: RecordedSession, ratios: PriceRatios): Promise<Compared> {
  const table = new BlockTable()
  const costWith = (replayed: Replay): number => costOf(measureReplay(session, replayed, table), ratios)
  const climbed = await replay(session, { compaction: false, braking: { stall: true } })
  if (climbed.invalid.length > 0) throw new Error(`${session.name}: ${climbed.invalid[0]}`)
  const [off, on] = [costWith(await replay(session)), costWith(climbed)]
  return { off, on, costX: on / off, isPaused: climbed.failure !== undefined }
}

/** A ladder, and how often the model of a made-up run does what it is told. */
export interface Setting {
  readonly name: string
  readonly braking: NonNullable<AgentShape['braking']>
  readonly obedience: number
}

const whole = { stall: true } as const

export const settings: readonly Setting[] = [
  { name: 'note, revert, pause; obeys never', braking: whole, obedience: 0 },
  { name: 'note, revert, pause; obeys every second time', braking: whole, obedience: 0.5 },
  { name: 'note, revert, pause; obeys always', braking: whole, obedience: 1 },
  { name: 'only paused', braking: { stall: { note: false, revert: false } }, obedience: 0 },
  { name: 'only told; obeys never', braking: { stall: { revert: false, pause: false } }, obedience: 0 },
]

/** Made-up runs with a setting; costs are sums. */
export interface LadderScore {
  readonly stalled: { readonly costX: number; readonly requestsX: number } & Ended
  readonly productive: { readonly costX: number; readonly dearestX: number; readonly dearer: number } & Ended
}

interface Ended {
  readonly runs: number
  /** Runs that did their work, without the ladder and with it; and those that were reverted. */
  readonly doneOff: number
  readonly done: number
  readonly reverted: number
}

interface Pair {
  readonly off: Reacted
  readonly on: Reacted
}

/** `off`: the same scenarios without the ladder. */
export async function climb(
  scenarios: readonly Scenario[],
  off: readonly Reacted[],
  { braking, obedience }: Setting,
  ratios: PriceRatios,
): Promise<LadderScore> {
  const stalled: Pair[] = []
  const productive: Pair[] = []
  for (const [index, scenario] of scenarios.entries()) {
    const on = await react(scenario, braking, obedience, ratios, index)
    const group = isStalled(scenario) ? stalled : productive
    group.push({ on, off: off[index]! })
  }
  const costs = productive.map(({ on, off: { cost } }) => on.cost / cost)
  return {
    stalled: {
      ...ended(stalled),
      costX: ratio(stalled, ({ cost }) => cost),
      requestsX: ratio(stalled, ({ requests }) => requests),
    },
    productive: {
      ...ended(productive),
      costX: ratio(productive, ({ cost }) => cost),
      dearestX: Math.max(...costs),
      dearer: costs.filter((cost) => cost > 1.02).length,
    },
  }
}

/** The scenarios with nothing that watches. */
export async function withoutLadder(scenarios: readonly Scenario[], ratios: PriceRatios): Promise<Reacted[]> {
  const reacted: Reacted[] = []
  for (const [index, scenario] of scenarios.entries()) reacted.push(await react(scenario, undefined, 0, ratios, index))
  return reacted
}

const ratio = (pairs: readonly Pair[], of: (run: Reacted) => number): number =>
  pairs.reduce((sum, { on }) => sum + of(on), 0) / pairs.reduce((sum, { off }) => sum + of(off), 0)

const ended = (pairs: readonly Pair[]): Ended => ({
  runs: pairs.length,
  doneOff: pairs.filter(({ off }) => off.isDone).length,
  done: pairs.filter(({ on }) => on.isDone).length,
  reverted: pairs.filter(({ on }) => on.reverts > 0).length,
})

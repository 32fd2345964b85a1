import { createHash } from 'node:crypto'
import { withoutEnds } from '../protocol/textEnds.ts'

/** A trial that is to be made. */
export interface PlannedTrial {
  /** `<task>/<arm>/<trial>`. */
  readonly key: string
  readonly task: string
  readonly arm: string
  /** From 0. */
  readonly trial: number
  readonly seed: number
  /** Of its agent, its folder and its recording. */
  readonly agentId: string
}

/** The seed of a trial: the same for all arms, and another for each task and trial. 31 bits. Pure. */
export const seedOf = (seed: number, task: string, trial: number): number =>
  createHash('sha256')
    .update(JSON.stringify([seed, task, trial]))
    .digest()
    .readUInt32BE(0) >>> 1

/** Longest name of an arm in an id. */
const mostChars = 40

/** Names of arms as they may stand in ids and names of files, each another. Pure. */
export function safeNames(arms: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  return new Map(
    arms.map((name) => {
      const plain = withoutEnds(name.replaceAll(/[^A-Za-z0-9_-]+/g, '-'), '-').slice(0, mostChars) || 'arm'
      let safe = plain
      for (let count = 2; taken.has(safe); count++) safe = `${plain}-${count}`
      taken.add(safe)
      return [name, safe] as const
    }),
  )
}

/** All trials in the order in which they are begun: trial by trial, task by task, and the arms side by side, so that drift hits all of them alike. Pure. */
export function planTrials(options: {
  readonly tasks: readonly string[]
  readonly arms: readonly string[]
  readonly trials: number
  readonly seed: number
}): PlannedTrial[] {
  const { tasks, arms, trials, seed } = options
  const safe = safeNames(arms)
  return Array.from({ length: trials }, (_, trial) => trial).flatMap((trial) =>
    tasks.flatMap((task, index) => {
      // Another arm begins each time: whoever comes first finds caches cold.
      const first = (trial + index) % arms.length
      const turned = [...arms.slice(first), ...arms.slice(0, first)]
      return turned.map((arm) => ({
        key: `${task}/${arm}/${trial}`,
        task,
        arm,
        trial,
        seed: seedOf(seed, task, trial),
        agentId: `${task}.${safe.get(arm)}.${trial}`,
      }))
    }),
  )
}

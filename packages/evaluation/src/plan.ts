import { createHash } from 'node:crypto'
import { withoutEnds } from '../../../src/protocol/text/textEnds.ts'

/** A planned trial. */
export interface PlannedTrial {
  /** `<task>/<arm>/<trial>`. */
  readonly key: string
  readonly task: string
  readonly arm: string
  /** Number of the trial, from 0. */
  readonly trial: number
  readonly seed: number
  /** Id of the agent; its folder and its recording have the same name. */
  readonly agentId: string
}

/** Returns the seed of a trial, 31 bits: the same for all arms, and another for each task and trial. Pure. */
export const seedOf = (seed: number, task: string, trial: number): number =>
  createHash('sha256')
    .update(JSON.stringify([seed, task, trial]))
    .digest()
    .readUInt32BE(0) >>> 1

/** Maximum length of an arm's name in an id. */
const mostChars = 40

/** Returns names of arms that are safe in ids and file names, all different. Pure. */
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

/**
 * Returns all trials in the order in which they begin: trial by trial, task by task, and the arms side by side, so that drift affects all arms alike.
 * Pure.
 */
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

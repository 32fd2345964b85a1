import type { Costs, Load, Topology } from './costs.ts'
import { System } from './system.ts'

/** Consequences of a loss. */
export interface Recovery {
  readonly what: string
  /** Answers to which more than a second was added. */
  readonly late: number
  /** The most that was added to one. */
  readonly slowestMs: number
  /** How long after the loss the last of them was given. */
  readonly usualAfterMs: number
}

const beginsAt = 20_000
const endsAt = 80_000
const lateMs = 1_000

/** Loses one thing after the other, each in a run of its own. */
export function recoveries(topology: Topology, load: Load, costs: Costs, seed: number): Recovery[] {
  const losses: { readonly what: string; readonly lose: (system: System) => void }[] = [
    { what: 'nothing', lose: () => {} },
    {
      what: 'a worker, 2 s',
      lose: (system) => system.timeline.start(system.kill(system.workers[0]!, 2_000)),
    },
    {
      what: 'all workers, 2 s',
      lose: (system) => system.workers.forEach((worker) => system.timeline.start(system.kill(worker, 2_000))),
    },
    { what: 'the database, 10 s', lose: (system) => system.timeline.start(system.loseDatabases(10_000)) },
  ]
  return losses.map(({ what, lose }) => {
    const system = new System(topology, load, costs, seed)
    system.timeline.at(beginsAt, () => lose(system))
    system.run(endsAt)
    const late = system.answers.filter(({ at, addedMs }) => at >= beginsAt && addedMs > lateMs)
    return {
      what,
      late: late.length,
      slowestMs: late.reduce((most, { addedMs }) => Math.max(most, addedMs), 0),
      usualAfterMs: late.reduce((last, { at }) => Math.max(last, at - beginsAt), 0),
    }
  })
}

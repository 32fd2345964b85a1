import { prose } from '../../generate/project.ts'
import { Random } from '../../generate/random.ts'
import { productive } from './productive.ts'
import type { Scenario } from './scenario.ts'
import { stalled } from './stalled.ts'
import { Workplace } from './workplace.ts'

/** A loop that does not end by itself is recorded up to so many steps, as by a limit on turns. */
export const longestLoop = 30

/** So many runs of each shape; half of the loops end by themselves, after 4 to 12 steps. The same for the same seed. */
export function makeScenarios(runsOfEach: number, seed: number): Scenario[] {
  const scenarios: Scenario[] = []
  const each = (
    kind: string,
    make: (at: Workplace, run: number) => Omit<Scenario, 'kind' | 'system' | 'task'>,
  ): void => {
    for (let run = 0; run < runsOfEach; run++) {
      const random = new Random(seed * 1_000_003 + scenarios.length)
      const at = new Workplace(random)
      const system = `You are an agent that does what it is told. ${prose(random, 600)}`
      scenarios.push({ kind, system, task: `The task: ${prose(random, 25)}.`, ...make(at, run) })
    }
  }
  for (const [kind, shape] of Object.entries(productive))
    each(kind, (at) => ({ before: shape(at), loop: [], endsByItself: true, after: [] }))
  for (const [kind, shape] of Object.entries(stalled))
    each(kind, (at, run) => {
      const endsByItself = run % 2 === 1
      const loop = shape(at, endsByItself ? at.random.between(4, 12) : longestLoop)
      return { before: at.explore(2, 10), loop, endsByItself, after: [...at.explore(1, 3), ...at.finish(at.file())] }
    })
  return scenarios
}

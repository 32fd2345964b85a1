import { Random } from '../../../generate/random.ts'
import { prose } from '../../../generate/project.ts'
import type { LabelledRun } from '../../labelledRun.ts'
import { sessionOf } from '../scenario.ts'
import { Workplace } from '../workplace.ts'
import { browserRuns } from './browser.ts'
import { pagedLists, progress, retries, testedEdits } from './coding.ts'
import type { Likeness } from './likeness.ts'
import { teamRuns } from './team.ts'

const likenesses: readonly Likeness[] = [browserRuns, teamRuns, testedEdits, pagedLists, retries, progress]

/** So many runs in the likeness of each recorded set. The same for the same seed. */
export const makeLikenesses = (runsOfEach: number, seed: number): LabelledRun[][] =>
  likenesses.map((likeness, set) =>
    Array.from({ length: runsOfEach }, (_, run) =>
      makeRun(likeness, run, new Random(seed * 7_000_003 + set * 100_003 + run)),
    ),
  )

function makeRun(likeness: Likeness, run: number, random: Random): LabelledRun {
  const at = new Workplace(random)
  const hasPassed = random.chance(likeness.passed)
  const before = hasPassed ? likeness.passing(at) : likeness.failing(at)
  const { name: kind, tools, polling } = likeness
  const system = `You are an agent that does what it is told. ${prose(random, 600)}`
  const scenario = {
    kind,
    system,
    task: `The task: ${prose(random, 25)}.`,
    before,
    loop: [],
    endsByItself: true,
    after: [],
  }
  return {
    kind,
    session: sessionOf(scenario, `${kind} ${run}`, { tools, polling }),
    verdict: hasPassed ? 'passed' : 'failed',
  }
}

import type { Scorer } from '../../src/testing.ts'

/** Results of the tests of all exercises of a trial: a line for each number. */
type Results = ReadonlyMap<number, { readonly passed: boolean; readonly reason: string }>

const count = 20

/** By the folder of a trial: all its scores are of one look. */
const looked = new Map<string, Promise<Results>>()

/** One exercise, by its `number`. */
export const scoreExercise: Scorer = async (trial) => {
  const number = Number(trial.options['number'])
  const result = (await resultsOf(trial)).get(number)
  return { value: result?.passed === true ? 1 : 0, reason: result?.reason ?? `there is no exercise ${number}` }
}

/** All of them: the share that is right; it passes if at least `atLeast` are. */
export const scoreExercises: Scorer = async (trial) => {
  const results = await resultsOf(trial)
  const right = [...results.values()].filter(({ passed }) => passed).length
  const wrong = [...results].flatMap(([number, { passed }]) => (passed ? [] : [number]))
  return {
    value: right / count,
    passed: right >= Number(trial.options['atLeast'] ?? count),
    reason: wrong.length === 0 ? 'all are right' : `${right} of ${count} are right; wrong: ${wrong.join(', ')}`,
  }
}

type Trial = Parameters<Scorer>[0]

async function resultsOf(trial: Trial): Promise<Results> {
  const { dir } = trial
  const looking = looked.get(dir) ?? look(trial)
  looked.set(dir, looking)
  const results = await looking
  // Whoever looks at this folder next does so after the checks of this trial.
  setImmediate(() => looked.delete(dir))
  return results
}

/** Runs all tests in one process; if one of them holds that up, each in its own. */
async function look({ run }: Trial): Promise<Results> {
  const together = await run('node --test-reporter=tap tests/all.mjs', { timeoutMs: 20_000 })
  const results = new Map(together.timedOut ? [] : readTap(together.output))
  for (let number = 1; number <= count; number++) {
    if (results.has(number)) continue
    if (!together.timedOut) results.set(number, { passed: false, reason: 'its test did not come to an end' })
    else {
      const name = String(number).padStart(2, '0')
      const alone = await run(`node --test-reporter=tap tests/${name}.test.mjs`, { timeoutMs: 2_000 })
      const [found] = readTap(alone.output)
      results.set(
        number,
        found?.[1] ?? { passed: false, reason: alone.timedOut ? 'its test ran into the time limit' : 'no test ran' },
      )
    }
  }
  return results
}

/** The tests of a report in the Test Anything Protocol, by the numbers that their names begin with. */
function readTap(output: string): readonly [number, { readonly passed: boolean; readonly reason: string }][] {
  const lines = output.split('\n')
  return lines.flatMap((line, at) => {
    const [, not, number] = /^(not )?ok \d+ - (\d\d) /.exec(line) ?? []
    if (number === undefined) return []
    const error = lines.slice(at + 1, at + 12).find((each) => each.trim().startsWith('error:'))
    return [
      [Number(number), { passed: not === undefined, reason: not === undefined ? '' : (error?.trim() ?? 'it failed') }],
    ]
  })
}

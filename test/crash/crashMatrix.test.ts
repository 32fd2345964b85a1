import { assert, describe } from '../support/suite.ts'
import { CrashDriver, type Scenario, type Undisturbed } from './crashDriver.ts'
import { mainJob } from './crashJob.ts'
import { planDeaths } from './planDeaths.ts'

// `node test/crash/crashMatrix.ts` goes through every record.
const scenarios: { readonly [title: string]: Scenario } = {
  'around six records, those of reverts, approvals and helpers among them': {
    deaths: [
      { mode: 'before', at: 17 },
      { mode: 'before', at: 62 },
      { mode: 'torn', at: 97 },
      { mode: 'after', at: 131 },
      { mode: 'before', at: 182 },
      { mode: 'torn', at: 240 },
    ],
  },
  'around a pin, a prune and a compaction that a person asks for': {
    deaths: [
      { mode: 'after', at: 15 },
      { mode: 'before', at: 22 },
      { mode: 'after', at: 76 },
      { mode: 'torn', at: 81 },
      { mode: 'after', at: 216 },
      { mode: 'before', at: 226 },
    ],
  },
  'around a graft that a person asks for': {
    deaths: [
      { mode: 'before', at: 148 },
      { mode: 'torn', at: 148 },
      { mode: 'after', at: 148 },
      { mode: 'before', at: 149 },
      { mode: 'torn', at: 149 },
      { mode: 'after', at: 149 },
    ],
  },
  'around folds': {
    deaths: [
      { mode: 'torn', at: 73 },
      { mode: 'after', at: 77 },
      { mode: 'before', at: 173 },
      { mode: 'torn', at: 177 },
      { mode: 'after', at: 286 },
      { mode: 'before', at: 292 },
    ],
  },
  'around a question and its answer': {
    deaths: [
      { mode: 'before', at: 322 },
      { mode: 'torn', at: 322 },
      { mode: 'after', at: 322 },
      { mode: 'before', at: 323 },
      { mode: 'torn', at: 323 },
      { mode: 'after', at: 323 },
    ],
  },
  'after questions, among answers given again, and around a call for a client': {
    deaths: [
      { mode: 'after', at: 322 },
      { mode: 'before', at: 324 },
      { mode: 'after', at: 325 },
      { mode: 'before', at: 328 },
      { mode: 'torn', at: 332 },
      { mode: 'after', at: 336 },
    ],
  },
  'before anything was said, in its first turn, and at its end': {
    deaths: [
      { mode: 'torn', at: 1 },
      { mode: 'before', at: 2 },
      { mode: 'after', at: 5 },
      { mode: 'torn', at: 9 },
      { mode: 'before', at: 200 },
      { mode: 'after', at: 290 },
    ],
  },
}

describe('a process that is killed', (it) => {
  let expected: Undisturbed | undefined
  for (const [title, scenario] of Object.entries(scenarios))
    it(`goes on to the same end, with no effect twice: ${title}`, { timeoutMs: 120_000 }, async ({ cleanup }) => {
      const driver = await CrashDriver.open(expected)
      cleanup(() => driver.close())
      expected = await driver.undisturbed()
      const { outcome, types } = expected
      for (const type of ['prune.applied', 'compaction.end', 'revert.applied', 'question.asked', 'call.requested'])
        assert.ok(types.has(type), type)
      assert.ok(mainJob.turns.length >= 30 && outcome.said['job']?.length === 3)
      assert.equal([outcome.pinned, outcome.hidden, outcome.grafted], [['m-2.1'], ['m-8.1'], ['m-11.1']])
      const { deaths, faults } = await driver.run(scenario)
      assert.equal(faults, [])
      assert.is(deaths.length, scenario.deaths.length)
    })
})

describe('the plan of the crash matrix', (it) => {
  it('holds every record, several modes, and random moments', () => {
    const deaths = planDeaths({ records: 293, ms: 500, seed: 1 }).flatMap((scenario) => scenario.deaths)
    const positions = deaths.flatMap((death) => (death.mode === 'timer' ? [] : [death.at]))
    assert.equal(
      positions.toSorted((a, b) => a - b),
      Array.from({ length: 293 }, (_, index) => index + 1),
    )
    assert.equal(Map.groupBy(deaths, ({ mode }) => mode).size, 4)
    assert.ok(deaths.length >= 360)
  })

  it('is the same for the same seed, and as long as it is told', () => {
    const plan = { records: 100, ms: 500, kills: 700, seed: 7 }
    assert.equal(planDeaths(plan), planDeaths(plan))
    assert.not.equal(planDeaths(plan), planDeaths({ ...plan, seed: 8 }))
    assert.is(planDeaths(plan).flatMap(({ deaths }) => deaths).length, 700)
  })
})

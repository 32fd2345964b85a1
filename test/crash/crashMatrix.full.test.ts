import { byTurns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { CrashDriver, type Scenario, type Undisturbed } from './crashDriver.ts'
import { mainJob } from './crashJob.ts'
import { planDeaths } from './planDeaths.ts'

// Of each scenario a third, by turns, or all; `node test/crash/crashMatrix.ts` goes through every record.
const scenarios: { readonly [title: string]: Scenario } = {
  'around six records, those of reverts, approvals and helpers among them': {
    deaths: [
      { mode: 'before', at: 18 },
      { mode: 'before', at: 64 },
      { mode: 'torn', at: 99 },
      { mode: 'after', at: 133 },
      { mode: 'before', at: 185 },
      { mode: 'torn', at: 245 },
    ],
  },
  'around a pin, a prune and a compaction that a person asks for': {
    deaths: [
      { mode: 'after', at: 16 },
      { mode: 'before', at: 24 },
      { mode: 'after', at: 78 },
      { mode: 'torn', at: 83 },
      { mode: 'after', at: 221 },
      { mode: 'before', at: 231 },
    ],
  },
  'around a graft that a person asks for': {
    deaths: [
      { mode: 'before', at: 153 },
      { mode: 'torn', at: 153 },
      { mode: 'after', at: 153 },
      { mode: 'before', at: 154 },
      { mode: 'torn', at: 154 },
      { mode: 'after', at: 154 },
    ],
  },
  'around folds': {
    deaths: [
      { mode: 'torn', at: 73 },
      { mode: 'after', at: 74 },
      { mode: 'before', at: 178 },
      { mode: 'torn', at: 179 },
      { mode: 'after', at: 299 },
      { mode: 'before', at: 301 },
    ],
  },
  'around a question and its answer': {
    deaths: [
      { mode: 'before', at: 328 },
      { mode: 'torn', at: 328 },
      { mode: 'after', at: 328 },
      { mode: 'before', at: 329 },
      { mode: 'torn', at: 329 },
      { mode: 'after', at: 329 },
    ],
  },
  'after questions, among answers given again, and around a call for a client': {
    deaths: [
      { mode: 'after', at: 328 },
      { mode: 'before', at: 330 },
      { mode: 'after', at: 331 },
      { mode: 'before', at: 334 },
      { mode: 'torn', at: 338 },
      { mode: 'after', at: 342 },
    ],
  },
  'around the data of a result, and the end that its call makes': {
    deaths: [
      { mode: 'before', at: 353 },
      { mode: 'torn', at: 353 },
      { mode: 'after', at: 353 },
      { mode: 'before', at: 355 },
      { mode: 'torn', at: 355 },
      { mode: 'after', at: 355 },
    ],
  },
  'around what a source of tools has at first, and what it has later': {
    deaths: [
      { mode: 'before', at: 5 },
      { mode: 'torn', at: 5 },
      { mode: 'after', at: 5 },
      { mode: 'before', at: 23 },
      { mode: 'torn', at: 23 },
      { mode: 'after', at: 23 },
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
  for (const [turn, [title, planned]] of Object.entries(scenarios).entries()) {
    const scenario = { deaths: byTurns(planned.deaths, turn) }
    it(`goes on to the same end, with no effect twice: ${title}`, { timeoutMs: 120_000 }, async ({ cleanup }) => {
      const driver = await CrashDriver.open(expected)
      cleanup(() => driver.close())
      expected = await driver.undisturbed()
      const { outcome, types } = expected
      for (const type of [
        'prune.applied',
        'compaction.end',
        'revert.applied',
        'question.asked',
        'call.requested',
        'tools.changed',
      ])
        assert.ok(types.has(type), type)
      assert.ok(mainJob.turns.length >= 30 && outcome.said['job']?.length === 3)
      assert.equal(outcome.ended, ['report {"items":["m-36.1"],"item":"m-36.1","files":17}'])
      assert.equal([outcome.pinned, outcome.hidden, outcome.grafted], [['m-2.1'], ['m-8.1'], ['m-11.1']])
      const { deaths, faults } = await driver.run(scenario)
      assert.equal(faults, [])
      assert.is(deaths.length, scenario.deaths.length)
    })
  }
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

import { readdirSync } from 'node:fs'
import { dialogues } from '../../../../suites/long-support/dialogues.ts'
import { ledger } from '../../../../suites/chained-exercises/ledger.ts'
import { letters } from '../../../../suites/chained-exercises/letters.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { scoreState } from '../../../../suites/long-support/stateScorer.ts'
import { supportTools } from '../../../../suites/long-support/tools.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { evaluated, scratchFolder, suiteNames, suiteOf, suitesFolder } from './suiteRuns.ts'

describe('the suites of the repository', (it) => {
  it('are all of those in the folder, each with a README', () => {
    const folders = readdirSync(suitesFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.equal(
      folders
        .map(({ name }) => name)
        .filter((name) => name !== 'embedded')
        .toSorted(),
      [...suiteNames].toSorted(),
    )
    for (const name of suiteNames) assert.ok(readdirSync(`${suitesFolder}/${name}`).includes('README.md'), name)
  })

  for (const [name, count] of [
    ['stall-traps', 12],
    ['retention', 8],
    ['long-support', 6],
    ['chained-exercises', 2],
  ] as const)
    it(
      `${name} has ${count} tasks, none of which passes without work or with an agent that does nothing`,
      { timeoutMs: 60_000 },
      async (context) => {
        const suite = await suiteOf(name)
        assert.is(suite.tasks.length, count)
        const idle = policyModel(() => 'Done.', { id: 'embedded:idle' })
        const { header, results } = await evaluated(context, suite, { arms: ['off'], trials: 1, model: idle })
        assert.equal(
          header.tasks.filter(({ passesWithoutWork }) => passesWithoutWork).map(({ id }) => id),
          [],
        )
        assert.is(results.length, count)
        assert.equal(
          results.filter(({ outcome }) => outcome !== 'failed').map(({ key }) => key),
          [],
        )
      },
    )

  it('long-support has a turn of its model for every prompt', async () => {
    for (const { id, prompts } of (await suiteOf('long-support')).tasks)
      assert.is(dialogues[id]?.length, prompts.length, id)
  })

  it('chained-exercises has twenty exercises in each conversation, in the order of their files', async () => {
    const { tasks } = await suiteOf('chained-exercises')
    for (const exercises of [ledger, letters]) {
      assert.is(exercises.length, 20)
      assert.equal(
        exercises.map(({ file }) => file.slice(0, 2)),
        Array.from({ length: 20 }, (_, index) => String(index + 1).padStart(2, '0')),
      )
      for (const { solution, slip, needs } of exercises)
        assert.ok(solution(needs?.guess ?? []).includes(slip[0]), slip[0])
    }
    for (const { prompts, checkFiles } of tasks) {
      assert.is(prompts.length, 20)
      assert.is(checkFiles.length, 21)
    }
  })

  it('long-support scores the state at the end, what was never to happen and what was to happen once', async (context) => {
    const dir = await scratchFolder(context)
    const options = {
      scorer: 'state',
      expect: { 'orders.A-104.refundedEur': 59 },
      never: [{ tool: 'cancel_order' }],
      once: [{ tool: 'refund', order: 'A-104' }],
    }
    assert.is(scoreState(dir, options).passed, false)
    const refund = supportTools(dir).find(({ name }) => name === 'refund')!
    assert.match(scoreState(dir, options).reason, 'orders.A-104.refundedEur is 0 and not 59; this was done 0 times')
    await refund.run({ order: 'A-104', eur: 59 }, {} as never)
    assert.equal(scoreState(dir, options), { value: 1, passed: true, reason: '' })
    await refund.run({ order: 'A-104', eur: 1 }, {} as never)
    assert.is(scoreState(dir, options).value.toFixed(2), '0.33')
    const cancel = supportTools(dir).find(({ name }) => name === 'cancel_order')!
    await cancel.run({ order: 'A-201' }, {} as never)
    assert.match(scoreState(dir, options).reason, 'this was done: {"tool":"cancel_order"}')
  })
})

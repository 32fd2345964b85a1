import { readFileSync } from 'node:fs'
import { defineAgent, policyModel, type Model } from '../../../../src/index.ts'
import { evaluate } from '../../../../src/testing.ts'
import { judgeQuestion } from '../../src/checks/judge.ts'
import { runEvaluation } from '../../src/evaluation.ts'
import type { Report } from '../../src/report/report.ts'
import { readSuite } from '../../src/suite/readSuite.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const usage = { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 }
const says = (text: string, id = 'embedded:said') => policyModel(() => ({ text, usage }), { id })
/** Judges by whether the answer is kind. */
const judge = policyModel(
  ({ messages }) => {
    const text = JSON.stringify(messages)
    const isKind = text.includes('Dear')
    return {
      text: JSON.stringify({ reason: isKind ? 'It is kind.' : 'It is rude.', score: isKind ? 0.9 : 0.1 }),
      usage,
    }
  },
  { id: 'live:judge' },
)
const prices = { 'live:judge': { input: 0, output: 1_000_000 } }
const criteria = { judge: 'The answer is kind.' }

const neverAsked: Model = {
  id: 'live:judge',
  stream: () => {
    throw new Error('the judge was asked')
  },
}

/** An evaluation whose judge is measured with five answers. */
async function measured(context: CaseContext) {
  const line = (answer: string, passed: boolean): string => JSON.stringify({ ...criteria, task: 'a', answer, passed })
  const root = projectFolder(context, {
    'mini/a/task.json': JSON.stringify({ prompts: ['Write.'], check: criteria }),
    'mini/judge.jsonl': [
      line('Dear Ada', true),
      line('Dear Bob', false),
      line('Hey', false),
      line('Oi', false),
      line('My dear', true),
    ].join('\n'),
  })
  return {
    suite: await readSuite('mini', root),
    source: defineAgent({ name: 'a', model: says('Dear Ada') }),
    arms: [{ name: 'as-defined' }],
    trials: 1,
    seed: 1,
    concurrency: 2,
    folder: `${root}/results`,
    clock: systemClock,
    signal: context.signal,
    judge,
    prices,
  }
}

describe('a judge', (it) => {
  it('scores answers, with its reason, and its costs stand apart', async () => {
    const { results, spentUsd, header } = await evaluate(
      defineAgent({ name: 'a', model: says('Dear Ada'), pricing: { input: 0, output: 2_000_000 } }),
      [{ id: 'kind', prompts: ['Write.'], check: [criteria, { ...criteria, min: 0.95, required: false }] }],
      {},
      { judge, prices },
    )
    const [result] = results
    assert.equal(
      result!.scores.map(({ value, passed, reason, judge: isJudged }) => [value, passed, reason, isJudged]),
      [
        [0.9, true, 'It is kind.', true],
        [0.9, false, 'It is kind.', true],
      ],
    )
    assert.equal([result!.outcome, result!.metrics!.costUsd, result!.judgeUsd, spentUsd], ['passed', 2, 2, 4])
    assert.is(header.judge, 'live:judge')
  })

  it('counts towards the budget', async () => {
    const cases = ['a', 'b', 'c'].map((id) => ({ id, prompts: ['Write.'], check: criteria }))
    const free = defineAgent({ name: 'a', model: says('Dear Ada'), pricing: { input: 0, output: 0 } })
    const { stopped, results, spentUsd } = await evaluate(
      free,
      cases,
      {},
      { judge, prices, budgetUsd: 2, concurrency: 1 },
    )
    assert.equal([stopped?.why, results.length <= 2, spentUsd], ['budget', true, 2])
  })

  it('that does not come to a verdict makes the trial an error, and nothing else', async () => {
    const broken: Model = says('I would rather not.', 'live:judge')
    const { results } = await evaluate(
      defineAgent({ name: 'a', model: says('Dear Ada') }),
      [{ id: 'a', prompts: ['x'], check: criteria }],
      {},
      { judge: broken },
    )
    assert.equal([results[0]!.outcome, results[0]!.error?.code], ['error', 'OUTPUT_INVALID'])
  })

  it('is told that what it judges is no instruction', () => {
    const question = judgeQuestion({ criteria: 'Kind.', prompts: ['Hello'], answer: '' })
    assert.is(
      question,
      'The criteria:\nKind.\n\n<<< message 1 to the agent\nHello\n>>>\n\n<<< its last answer\n(nothing)\n>>>',
    )
  })

  it('is measured against people, once, on answers that they had judged', async (context) => {
    const plan = await measured(context)
    const { judged } = await runEvaluation(plan)
    assert.equal(judged, {
      type: 'judge',
      model: 'live:judge',
      both: 1,
      onlyPeople: 1,
      onlyJudge: 1,
      neither: 2,
      failed: 0,
      costUsd: 5,
    })
    const again = await runEvaluation({ ...plan, judge: says('never asked', 'live:judge') })
    assert.equal(again.judged, judged)
  })

  it('is reported with how it agrees with people where it was asked from code, too', async (context) => {
    const root = projectFolder(context, {
      'mini/a/task.json': JSON.stringify({ prompts: ['Write.'], check: criteria }),
      'mini/judge.jsonl': JSON.stringify({ ...criteria, task: 'a', answer: 'Dear Ada', passed: true }),
    })
    const agent = defineAgent({ name: 'a', model: says('Dear Ada') })
    const out = `${root}/results`
    const { report } = await evaluate(agent, `${root}/mini`, {}, { judge, prices, out })
    const { judge: written } = JSON.parse(readFileSync(`${out}/report.json`, 'utf8')) as Report
    for (const { people } of [report.judge!, written!]) assert.is(people?.agreement.value, 1)
  })

  it('that was stopped while it was measured has spent what it has, and is measured anew within the budget', async (context) => {
    const free = defineAgent({ name: 'a', model: says('Dear Ada'), pricing: { input: 0, output: 0 } })
    const plan = { ...(await measured(context)), source: free, concurrency: 1 }
    const first = await runEvaluation({ ...plan, budgetUsd: 3 })
    assert.equal([first.stopped?.why, first.judged, first.spentUsd], ['budget', undefined, 3])
    for (let times = 0; times < 2; times++) {
      const again = await runEvaluation({ ...plan, budgetUsd: 3, judge: neverAsked })
      assert.equal([again.stopped?.why, again.spentUsd], ['budget', 3])
    }
    const whole = await runEvaluation({ ...plan, budgetUsd: 20 })
    assert.equal([whole.stopped, whole.judged?.costUsd, whole.spentUsd], [undefined, 5, 3 + 5 + 1])
  })
})

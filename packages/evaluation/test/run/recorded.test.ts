import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent, policyModel, type Model } from '../../../../src/index.ts'
import { runEvaluation } from '../../src/evaluation.ts'
import type { EvaluationPlan } from '../../src/evaluationPlan.ts'
import { recordedModel } from '../../src/trials/recordings.ts'
import { readSuite } from '../../src/suite/readSuite.ts'
import type { AgentSource } from '../../src/suite/defineSuite.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

/** An agent that asks a helper, with a model of its own each. */
const team = (boss: Model, helper: Model): AgentSource => {
  const asked = defineAgent({ name: 'helper', model: helper, description: 'Helps.' })
  return defineAgent({ name: 'boss', model: boss, agents: [asked] })
}
const boss = (answer: string) =>
  policyModel(
    ({ messages }, { turnIndex }) =>
      turnIndex === 0
        ? { toolCalls: [{ name: 'helper', input: { task: 'Help.' } }] }
        : `${answer}: ${JSON.stringify(messages.at(-1)?.content)}`,
    { id: 'live:boss' },
  )
const helper = policyModel(() => 'helped', { id: 'live:helper' })
const judge = policyModel(() => '{"reason":"It was.","score":1}', { id: 'live:judge' })

async function planIn(context: CaseContext): Promise<(change: Partial<EvaluationPlan>) => EvaluationPlan> {
  const root = projectFolder(context, {
    'mini/a/task.json': '{ "prompts": ["Go."], "check": [{ "answer": "helped" }, { "judge": "It was helped." }] }',
  })
  const suite = await readSuite('mini', root)
  return (change) => ({
    suite,
    source: team(boss('said'), helper),
    arms: [{ name: 'as-defined' }],
    trials: 2,
    seed: 1,
    concurrency: 2,
    clock: systemClock,
    signal: context.signal,
    judge,
    ...change,
    folder: join(root, change.folder ?? 'out'),
    ...(change.replay === undefined ? {} : { replay: join(root, change.replay) }),
  })
}

const unasked = team(recordedModel('live:boss'), recordedModel('live:helper'))

describe('the recordings of an evaluation', (it) => {
  it('hold what every model of a trial replied, that of a sub-agent and the judge too, and replay it all', async (context) => {
    const plan = await planIn(context)
    const first = await runEvaluation(plan({ record: true }))
    const names = readdirSync(join(plan({}).folder, 'recordings'))
    assert.equal(
      names,
      [0, 1].flatMap((trial) => [
        `a.as-defined.${trial}.2.model.jsonl`,
        `a.as-defined.${trial}.jsonl`,
        `a.as-defined.${trial}.judge.0.jsonl`,
      ]),
    )
    const again = await runEvaluation(
      plan({ folder: 'again', replay: 'out', source: unasked, judge: recordedModel('live:judge') }),
    )
    const facts = ({ results }: typeof first) =>
      results.map(({ outcome, answer, scores, differences }) => [
        outcome,
        answer,
        scores.map(({ value }) => value),
        differences,
      ])
    assert.equal(facts(again), facts(first))
    assert.is(again.results[0]!.outcome, 'passed')
  })

  it('are not played where a trial has none', async (context) => {
    const plan = await planIn(context)
    await runEvaluation(plan({ record: true, trials: 1 }))
    await assert.rejects(
      runEvaluation(plan({ folder: 'again', replay: 'out', source: unasked })),
      /has no recording of 1 of 2 trials, such as a\/as-defined\/1/,
    )
  })
})

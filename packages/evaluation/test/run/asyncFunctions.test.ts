import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent, defineTool, policyModel } from '../../../../src/index.ts'
import { runEvaluation } from '../../src/evaluation.ts'
import { armOf } from '../../src/arms.ts'
import type { SuiteDefinition } from '../../src/suite/defineSuite.ts'
import { readSuite } from '../../src/suite/readSuite.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

/** As a suite of JavaScript may have it: the types do not allow it. */
const rejects = (async () => {
  throw new Error('this rejects')
}) as never
const throws = (): never => {
  throw new Error('this throws')
}

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({}),
  needsApproval: true,
  run: () => 'it is paid',
})
const model = policyModel((request, { turnIndex }) =>
  turnIndex === 0 ? { toolCalls: [{ name: 'pay', input: {} }] } : JSON.stringify(request.messages.at(-1)),
)
const agent = defineAgent({ name: 'a', model, tools: [pay] })

/** An evaluation of a suite of one task. */
async function evaluated(context: CaseContext, definition: SuiteDefinition, arm = 'as-defined') {
  const root = projectFolder(context, {
    'mini/a/task.json': '{ "prompts": ["Pay."], "check": { "answer": "is paid" } }',
  })
  const suite = await readSuite('mini', root)
  return runEvaluation({
    suite: { ...suite, definition },
    source: definition.agent ?? agent,
    arms: [armOf(arm, definition.arms)],
    trials: 1,
    seed: 1,
    concurrency: 1,
    folder: join(root, 'results'),
    clock: systemClock,
    signal: context.signal,
    ...(definition.models === undefined ? { model } : { model: 'own' }),
  })
}

describe('functions of a suite that are async', (it) => {
  it('are refused before anything runs, whatever becomes of what they have begun', async (context) => {
    await assert.rejects(
      evaluated(context, { agent: rejects }),
      /^The agent of "a" must not be a promise: make its function one that is not async\.$/,
    )
    await assert.rejects(
      evaluated(context, { models: { own: rejects } }),
      /^The model "own" of the suite must not be a promise/,
    )
    await assert.rejects(
      evaluated(context, { arms: { terse: rejects } }, 'terse'),
      /^The options of the arm "terse" must not be a promise/,
    )
  })

  it('have decided nothing: the call is denied, and the trial goes on', async (context) => {
    const { results } = await evaluated(context, { decide: rejects })
    assert.is(results[0]!.outcome, 'failed')
    assert.match(results[0]!.answer, /"decide\\" of the suite gave a promise; it must not be async/)
    assert.is((await evaluated(context, {})).results[0]!.outcome, 'passed')
  })

  it('are told apart from such as throw, which are named with what they threw', async (context) => {
    await assert.rejects(
      evaluated(context, { models: { own: throws } }),
      /^The model "own" of the suite could not be made: this throws\.$/,
    )
    await assert.rejects(
      evaluated(context, { arms: { terse: throws } }, 'terse'),
      /^The options of the arm "terse" could not be made: this throws\.$/,
    )
  })
})

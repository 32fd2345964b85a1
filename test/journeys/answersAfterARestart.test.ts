import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { caller, ends } from '../support/lives.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

/** Schemas whose JSON form refuses what they take, with such an answer and what the tool gets of it. */
const sayLess: Readonly<Record<string, readonly [z.ZodType, answer: unknown, got: unknown]>> = {
  'a pattern of letters of any script': [z.string().regex(/^\p{L}+$/u), 'Zoë', 'Zoë'],
  'a pattern for letters of any case': [z.string().regex(/^(yes|no)$/i), 'YES', 'YES'],
  'a number out of a text': [z.coerce.number(), '5', 5],
  'a text that is trimmed first': [z.string().trim().max(3), '   abc   ', 'abc'],
  'a value that is made before it is checked': [z.preprocess(Number, z.int()), '7', 7],
  'a value that is replaced': [z.object({ a: z.enum(['x']).catch('x') }), { a: 'nope' }, { a: 'x' }],
}

/** An agent that asks, in a runtime that begins after the question. */
async function resumed(context: CaseContext, schema: z.ZodType) {
  const asks = tool('asks', async (_, { ask }) => JSON.stringify(await ask(schema, 'Which?')), { effects: 'none' })
  const options = { model: caller(['asks']), tools: [asks] }
  const { agent, store, untilState } = await startAgent(context, options)
  agent.prompt('go')
  await untilState('paused')
  const runtime = await createRuntime({ store: await cutStore('a1', await recordsOf(store, 'a1')) })
  context.cleanup(() => runtime.close())
  const second = await runtime.resume('a1', defineAgent({ name: 'tester', ...options }))
  const result = () => resultsOf({ messages: second.conversation.trunk().map(({ message }) => message) })
  return { second, result }
}

describe('an answer after a restart', (it) => {
  for (const [what, [schema, answer, got]] of Object.entries(sayLess))
    it(`is judged by the schema of the tool, not by what the log has of it: ${what}`, async (context) => {
      const { second, result } = await resumed(context, schema)
      const end = ends(second)
      second.decide(second.pending()[0]!.key, { value: answer })
      await end
      assert.equal(result(), [JSON.stringify(got)])
    })

  it('that is wrong is asked for again, with what is wrong', async (context) => {
    const { second, result } = await resumed(context, z.enum(['red', 'blue']))
    const problems: unknown[] = []
    second.subscribe((event) => {
      if (event.type !== 'question.asked') return
      problems.push(event.problem)
      second.decide(event.key, { value: 'blue' })
    })
    const end = ends(second)
    second.decide(second.pending()[0]!.key, { value: 'green' })
    await end
    assert.match(String(problems[0]), 'red')
    assert.equal(result(), ['"blue"'])
  })
})

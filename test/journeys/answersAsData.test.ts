import { z } from 'zod'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const output = z.object({ city: z.string(), people: z.int() })

describe('an answer as data', (it) => {
  it('is checked and returned, and the model is told its shape', async (context) => {
    const { agent, script } = await startAgent(context, { output, replies: ['{"city":"Ulm","people":130000}'] })
    const result = await agent.prompt('where?').result
    assert.equal(result.output, { city: 'Ulm', people: 130_000 })
    assert.is(script.requests[0]!.settings.responseFormat?.type, 'json')
    assert.equal(script.requests[0]!.settings.responseFormat?.schema['required'], ['city', 'people'])
  })

  for (const [what, wrong] of [
    ['is not JSON', 'Ulm, I think'],
    ['does not fit the output schema', '{"city":"Ulm","people":"many"}'],
  ] as const) {
    it(`is asked for again when it ${what}`, async (context) => {
      const { agent, clock, ofType, untilState } = await startAgent(context, {
        output,
        replies: [wrong, '{"city":"Ulm","people":1}'],
      })
      const run = agent.prompt('where?')
      await untilState('backoff')
      await clock.advance(1_000)
      assert.equal((await run.result).output, { city: 'Ulm', people: 1 })
      const [reset] = ofType('reply.reset')
      assert.is(reset!.error.code, 'OUTPUT_INVALID')
      assert.match(reset!.error.message, new RegExp(what))
    })
  }

  it('that never fits ends the run with an error and no output', async (context) => {
    const { agent, clock, untilState } = await startAgent(context, {
      output,
      retry: { attempts: 2 },
      replies: ['no', 'no', '{"city":"Ulm","people":1}'],
    })
    const run = agent.prompt('where?')
    await untilState('backoff')
    await clock.advance(1_000)
    const result = await run.result
    assert.equal([result.stopReason, result.error?.code, 'output' in result], ['error', 'OUTPUT_INVALID', false])
    assert.equal((await agent.prompt('again').result).output, { city: 'Ulm', people: 1 })
  })

  it('is not asked of a reply that calls tools', async (context) => {
    const { agent } = await startAgent(context, {
      output,
      tools: [tool('look', () => 'Ulm')],
      replies: [calls('c', 'look'), '{"city":"Ulm","people":1}'],
    })
    assert.equal((await agent.prompt('where?').result).output, { city: 'Ulm', people: 1 })
  })
})

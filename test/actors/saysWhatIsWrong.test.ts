import { z } from 'zod'
import { z as zod3 } from 'zod/v3'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent as defineWhole } from '../../packages/define/src/defineAgent.ts'
import { deferred } from '../../src/actors/parts/deferred/deferred.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { startAgent, withCode } from '../support/agentHarness.ts'
import { nested } from '../support/nested.ts'
import { assert, describe } from '../support/suite.ts'

const model = scriptedModel([])
/** Schemas of other libraries by the standard they share. */
const valibot = { '~standard': { vendor: 'valibot', version: 1 }, kind: 'schema', type: 'object' }

const given = (input: unknown) => () =>
  defineTool({ name: 'look', description: 'Looks.', input: input as z.ZodObject, run: () => 'x' })

describe('a definition', (it) => {
  for (const [where, define] of [
    ['the input of a tool', given],
    ['the input of an agent', (input: unknown) => () => defineAgent({ name: 'a', model, input: input as never })],
    ['the output of an agent', (output: unknown) => () => defineAgent({ name: 'a', model, output: output as never })],
  ] as const) {
    it(`says whose schema was given for ${where}`, () => {
      assert.throws(define(zod3.object({ a: zod3.string() })), withCode('INVALID_DEFINITION', 'zod 3: install zod 4'))
      assert.throws(define(valibot), withCode('INVALID_DEFINITION', 'a schema of valibot: give one of zod 4'))
      assert.throws(define({}), withCode('INVALID_DEFINITION', 'give a zod'))
      assert.throws(define(null), withCode('INVALID_DEFINITION', 'give a zod'))
    })
  }

  it('says of a union for the input of a tool that it is one, and what to do', () => {
    const kinds = [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })] as const
    for (const union of [z.union(kinds), z.discriminatedUnion('kind', kinds)]) {
      assert.throws(given(union), withCode('INVALID_DEFINITION', 'it is a union', 'put it into a field'))
    }
    assert.throws(given(z.string()), withCode('INVALID_DEFINITION', 'it is "string".'))
    assert.throws(given(z.unknown()), withCode('INVALID_DEFINITION', 'it is a schema without a type'))
  })

  it('without a model says what one is', () => {
    for (const missing of [undefined, null]) {
      assert.throws(
        () => defineAgent({ name: 'a', model: missing as never }),
        withCode('INVALID_DEFINITION', 'model: give a language model object of the AI SDK'),
      )
    }
  })

  it('says that the model would see two tools of one name, of whatever kind they are', () => {
    const tool = (name: string) =>
      defineTool({ name, description: 'Waits.', input: z.object({}), run: () => 'x', effects: 'none' })
    const agent = (name: string) => defineAgent({ name, model })
    const [bob, transfer] = [agent('bob'), 'transfer_to_bob']
    const definitions: Readonly<Record<string, () => { readonly tools: unknown }>> = {
      'an agent is named "wait_for", as the tool that waits for "bob"': () =>
        defineAgent({ name: 'a', model, agents: [{ definition: bob, detach: 'report' }, agent('wait_for')] }),
      'a tool is named "transfer_to_bob", as the tool that hands over to "bob"': () =>
        defineAgent({ name: 'a', model, handoffs: [bob], tools: [tool(transfer)] }),
      'an agent is named "transfer_to_bob", as the tool that hands over to "bob"': () =>
        defineAgent({ name: 'a', model, handoffs: [() => bob], agents: () => [agent(transfer)] }),
    }
    for (const [what, define] of Object.entries(definitions))
      assert.throws(() => define().tools, withCode('INVALID_DEFINITION', what))
    const deferring = defineWhole({ name: 'a', model, handoffs: [bob], tools: [deferred([tool(transfer)])] })
    assert.throws(() => deferring.tools, withCode('INVALID_DEFINITION', 'a tool is named "transfer_to_bob"'))
  })

  it('says what a function among its options did that gives no agents', () => {
    const functions: readonly (readonly [() => unknown, string])[] = [
      [() => undefined, 'returned undefined'],
      [async () => [], 'returned a promise'],
      [() => assert.unreachable('boom'), 'threw an error: boom.'],
    ]
    for (const [agents, what] of functions) {
      const definition = defineAgent({ name: 'a', model, agents: agents as () => [] })
      assert.throws(() => definition.agents, withCode('INVALID_DEFINITION', `agents: the function ${what}`))
    }
    const handing = defineAgent({ name: 'a', model, handoffs: [() => assert.unreachable('boom')] })
    assert.throws(
      () => handing.handoffs,
      withCode('INVALID_DEFINITION', 'handoffs: the function threw an error: boom.'),
    )
  })

  it('names what JSON cannot hold by its type', () => {
    for (const name of [
      1n,
      Object.assign(
        {},
        {
          get self(): unknown {
            return this
          },
        },
      ),
    ])
      assert.throws(
        () => defineAgent({ name: name as never, model }),
        withCode('INVALID_DEFINITION', `Agent a value of type ${typeof name}`),
      )
  })

  it('takes no options of a provider that no record can hold', () => {
    const settings = { providerOptions: { some: { deep: nested(600) } } }
    assert.throws(
      () => defineAgent({ name: 'a', model, settings }),
      withCode('INVALID_DEFINITION', 'nested deeper than 550 levels'),
    )
  })

  it('takes a number of answers above none', () => {
    for (const outputAttempts of [0, 1.5, -1]) {
      assert.throws(
        () => defineAgent({ name: 'a', model, outputAttempts }),
        withCode('INVALID_DEFINITION', 'outputAttempts'),
      )
    }
  })
})

describe('a policy', (it) => {
  it('that is no function is refused at once', () => {
    assert.throws(() => policyModel('hi' as never), withCode('INVALID_DEFINITION', 'takes a function', 'not string'))
  })

  for (const [shape, ...words] of [
    [undefined, 'the reply is undefined'],
    [null, 'the reply is null'],
    [7, 'the reply is 7'],
    [{ content: 'x' }, '"content" is not known; there are: '],
    [{ text: 1 }, 'text: give a string, not a number'],
    [{ toolCalls: 'x' }, 'toolCalls: give a list, not a string'],
    [{ toolCalls: [{ input: {} }] }, 'toolCalls.0.name: missing, give a string'],
  ] as const) {
    it(`that gives ${JSON.stringify(shape)} is told what a reply is, and not asked again`, async (context) => {
      let asked = 0
      const { agent } = await startAgent(context, {
        model: policyModel(() => {
          asked += 1
          return shape as never
        }),
      })
      const { error } = await agent.prompt('go').result
      assert.is(error?.code, 'MODEL_BAD_REQUEST')
      for (const word of [...words, 'give a text, or { text, thinking, toolCalls']) assert.match(error!.message, word)
      assert.is(asked, 1)
    })
  }

  it('may leave the input of a call out, and options undefined', async (context) => {
    const replies = [{ toolCalls: [{ name: 'look' }], text: undefined }, 'done']
    const { agent, ofType } = await startAgent(context, {
      tools: [given(z.object({}))()],
      model: policyModel((_, { turnIndex }) => replies[turnIndex] as never),
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.is(ofType('tool.end')[0]!.message.isError, false)
  })

  it('in a script is told the number of its reply', async (context) => {
    const { agent } = await startAgent(context, { replies: ['fine', { say: 'x' } as never] })
    await agent.prompt('1').result
    assert.match((await agent.prompt('2').result).error!.message, 'reply 2 of the script')
  })
})

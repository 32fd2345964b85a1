import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import type { TurnChanges, TurnContext } from '../../src/actors/turn/turnOptions.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import {
  type HarnessOptions,
  calls,
  gate,
  never,
  resultsOf,
  startAgent,
  tool,
  usageOf,
} from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const look = tool('look', () => 'seen')
const find = tool('find', () => 'found')

/** Its instructions say which turn it is. */
const counting = (): Pick<AgentOptions, 'instructions'> => ({
  instructions: ({ turnIndex }) => `turn ${turnIndex}`,
})

describe('instructions that are a function', (it) => {
  it('are asked before every turn, and recorded when they differ', async (context) => {
    let said = 'first'
    const { agent, script, records } = await startAgent(context, {
      tools: [look],
      instructions: () => said,
      replies: [calls('a', 'look'), 'one', 'two'],
    })
    await agent.prompt('go').result
    said = 'second'
    await agent.prompt('again').result
    assert.equal(
      script.requests.map(({ system }) => system),
      ['first', 'first', 'second'],
    )
    const prepared = (await records()).filter((record) => record.type === 'turn.prepared')
    assert.equal(
      prepared.map(({ by, instructions, sameInstructions }) => [by, instructions, sameInstructions]),
      [
        [['instructions'], 'first', undefined],
        [['instructions'], undefined, true],
        [['instructions'], 'second', undefined],
      ],
    )
  })

  it('are given where they run, and keep the form of the answer', async (context) => {
    const seen: unknown[] = []
    const { agent, script } = await startAgent(context, {
      output: z.object({ n: z.number() }),
      instructions: async ({ agent: { id, path }, runId, turnIndex, signal }) => {
        seen.push(id, path, runId, turnIndex, signal.aborted)
        return 'count'
      },
      replies: ['{"n":1}'],
    })
    const { output } = await agent.prompt('go').result
    assert.equal(output, { n: 1 })
    assert.equal(seen, ['a1', [], 'a1/r0', 0, false])
    assert.match(script.requests[0]!.system, /^count\n\n.*JSON/s)
  })

  it('are announced with the request, and counted by what they say', async (context) => {
    const { agent, ofType } = await startAgent(context, { ...counting(), replies: ['one'] })
    await agent.prompt('go').result
    assert.is(ofType('turn.request')[0]!.request.system, 'turn 0')
    const short = ofType('reply.end')[0]!.estimatedTokens
    const other = await startAgent(context, { instructions: () => 'words '.repeat(500), replies: ['one'] })
    await other.agent.prompt('go').result
    assert.ok(other.ofType('reply.end')[0]!.estimatedTokens > short + 400)
  })

  it('are blanked of secrets in the request and the log', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      instructions: () => 'the key is hunter2!',
      redact: { secrets: { KEY: 'hunter2!' } },
      replies: ['one', 'two'],
    })
    await agent.prompt('go').result
    await agent.prompt('go').result
    assert.not.match(JSON.stringify([script.requests, await records()]), /hunter2/)
    assert.is(script.requests[0]!.system, script.requests[1]!.system)
  })
})

describe('beforeTurn', (it) => {
  const deciding = (
    decide: (turn: TurnContext) => TurnChanges | undefined,
    options: HarnessOptions = {},
  ): HarnessOptions => ({ tools: [look, find], instructions: 'base', ...options, beforeTurn: decide })

  it('changes one turn, and no other', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      ...deciding(({ turn }) =>
        turn === 1 ? { tools: [look], toolChoice: { tool: 'look' }, settings: { temperature: 0 } } : undefined,
      ),
      replies: [calls('a', 'look'), 'the end'],
    })
    await agent.prompt('go').result
    assert.equal(
      script.requests.map(({ tools, settings, system }) => [tools.map(({ name }) => name), settings, system]),
      [
        [['look'], { temperature: 0, toolChoice: { tool: 'look' } }, 'base'],
        [['look', 'find'], {}, 'base'],
      ],
    )
    const prepared = (await records()).filter((record) => record.type === 'turn.prepared')
    assert.is(prepared.length, 1)
    const { by, tools, settings } = prepared[0]!
    assert.equal([by, tools, settings], [['beforeTurn'], ['look'], { temperature: 0, toolChoice: { tool: 'look' } }])
  })

  it('is told of the turn', async (context) => {
    const seen: unknown[] = []
    const { agent } = await startAgent(context, {
      ...deciding((turn) => {
        const { instructions, tools, model, spent, limits, lastStopReason, conversation } = turn
        seen.push([turn.turn, instructions, tools, model, spent.turns, spent.usage.output, limits, lastStopReason])
        seen.push(conversation.trunk().length)
        return undefined
      }),
      limits: { turns: 9 },
      replies: [{ toolCalls: [{ name: 'look', input: {} }], usage: usageOf(3, 7) }, 'the end'],
    })
    await agent.prompt('go').result
    assert.equal(seen, [
      [1, 'base', ['look', 'find'], 'embedded:scripted', 0, 0, { turns: 9 }, undefined],
      1,
      [2, 'base', ['look', 'find'], 'embedded:scripted', 1, 7, { turns: 9 }, 'stop'],
      3,
    ])
  })

  it('chooses another model by its name, with its prices', async (context) => {
    const smart = scriptedModel(['clever'], { id: 'test:smart' })
    const { agent, ofType, script } = await startAgent(context, {
      ...deciding(({ turn }) => (turn === 2 ? { model: 'smart' } : undefined)),
      models: { smart: { model: smart, pricing: { input: 1_000_000, output: 0 } } },
      replies: [calls('a', 'look')],
    })
    const { costUsd } = await agent.prompt('go').result
    assert.is(script.requests.length, 1)
    assert.equal(
      ofType('reply.end').map(({ message, costUsd: cost }) => [message.model, cost > 0]),
      [
        ['embedded:scripted', false],
        ['test:smart', true],
      ],
    )
    assert.ok(costUsd > 0)
    assert.equal(ofType('turn.prepared')[0]!.model, { id: 'test:smart', name: 'smart' })
    assert.equal(
      ofType('turn.request').map(({ model }) => model),
      ['embedded:scripted', 'test:smart'],
    )
  })

  it('does not let a model call what the turn does not offer', async (context) => {
    let found = 0
    const { agent, script } = await startAgent(context, {
      ...deciding(() => ({ tools: ['look'] }), { tools: [look, tool('find', () => String(++found))] }),
      replies: [calls('a', 'find', 'look'), 'the end'],
    })
    await agent.prompt('go').result
    assert.is(found, 0)
    assert.equal(resultsOf(script.requests[1]), [
      'Not run: "find" is not available in this turn, which has look.',
      'seen',
    ])
  })

  for (const [what, decide, why] of [
    ['throws', () => Promise.reject(new Error('no database')), /no database/],
    ['names a tool that is not there', () => ({ tools: ['lok'] }), /no tool "lok": did you mean "look"/],
    ['names a model that is not there', () => ({ model: 'smart' }), /no model "smart"/],
    ['chooses a tool that is not offered', () => ({ tools: ['look'], toolChoice: { tool: 'find' } }), /toolChoice/],
    ['has an option too many', () => ({ tool: ['look'] }), /tool/],
    ['gives a number', () => 7, /nonsense/],
    ['gives a model that is none', () => ({ model: { id: 'x' } }), /stream/],
  ] as const) {
    it(`ends the run when it ${what}, and loses nothing`, async (context) => {
      let isBroken = true
      const { agent, script, ofType } = await startAgent(context, {
        ...deciding(() => (isBroken ? (decide() as TurnChanges) : undefined)),
        replies: ['the end'],
      })
      const { stopReason, error } = await agent.prompt('go').result
      assert.equal([stopReason, error?.code], ['error', 'HOOK_FAILED'])
      assert.match(error?.message ?? '', why)
      assert.match(error?.message ?? '', /Agent "tester" could not begin its turn: .*(beforeTurn|no database)/)
      assert.is(script.requests.length, 0)
      assert.is(ofType('reply.reset').length, 0)
      isBroken = false
      assert.is((await agent.prompt('again').result).text, 'the end')
    })
  }

  it('that hangs is given up after its time', async (context) => {
    const { agent, clock, untilState } = await startAgent(context, {
      instructions: 'base',
      beforeTurn: () => never,
      replies: [],
    })
    const { result } = agent.prompt('go')
    await untilState('preparing')
    while (clock.pending === 0) await Promise.resolve()
    await clock.advance(30_000)
    const { stopReason, error } = await result
    assert.equal([stopReason, error?.code], ['error', 'HOOK_FAILED'])
    assert.match(error!.message, /beforeTurn gave no answer within 30000 ms/)
  })

  it('is told of an abort, and what it returns after that is not used', async (context) => {
    const late = gate<TurnChanges>()
    const begun = gate<AbortSignal>()
    const { agent, script, ofType } = await startAgent(context, {
      instructions: 'base',
      beforeTurn: ({ signal }) => {
        begun.resolve(signal)
        return late.promise
      },
      replies: [],
    })
    const { result } = agent.prompt('go')
    const signal = await begun.promise
    agent.abort()
    assert.is((await result).stopReason, 'aborted')
    assert.ok(signal.aborted)
    late.resolve({ tools: [] })
    await agent.stop()
    assert.is(script.requests.length, 0)
    assert.is(ofType('turn.prepared').length, 0)
  })
})

import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { HookedResult } from '../../src/actors/define/hooks.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { calls, gate, never, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const look = tool('look', () => 'the key is 1234', { effects: 'none' })
const broken = tool('broken', () => {
  throw new Error('no disk')
})

describe('afterTool', (it) => {
  it('sees what every call came to, and by saying nothing leaves it', async (context) => {
    const seen: unknown[] = []
    const { agent, script, ofType } = await startAgent(context, {
      tools: [look, broken],
      replies: [calls('c', ['look', { at: 1 }], 'broken'), 'ok'],
      afterTool: ({ name, input }, result) => void seen.push([name, input, result]),
    })
    await agent.prompt('go').result
    assert.equal(seen, [
      ['look', { at: 1 }, { content: [{ type: 'text', text: 'the key is 1234' }], isError: false }],
      ['broken', {}, { content: [{ type: 'text', text: 'no disk' }], isError: true }],
    ])
    assert.equal(resultsOf(script.requests[1]), ['the key is 1234', 'no disk'])
    assert.equal(
      ofType('tool.end').map(({ hook }) => hook),
      [undefined, undefined],
    )
  })

  it('replaces a result, of which the log and the model then know nothing', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      tools: [look, broken],
      replies: [calls('c', 'look', 'broken'), 'ok'],
      afterTool: ({ name }, { content }) =>
        name === 'look'
          ? { result: (content[0] as { text: string }).text.replace(/\d+/, '****'), isError: true }
          : { result: { why: 'unknown' } },
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), ['the key is ****', '{"why":"unknown"}'])
    const log = await records()
    assert.not.ok(JSON.stringify(log).includes('1234'))
    const ends = log.flatMap((record) => (record.type === 'tool.end' ? [[record.hook, record.message.isError]] : []))
    assert.equal(ends, [
      ['replaced', true],
      ['replaced', true],
    ])
  })

  it('that fails in any way withholds the result, and an error event says so', async (context) => {
    const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
      [
        'throws',
        () => {
          throw new Error('no scanner')
        },
        /no scanner/,
      ],
      ['says text', () => 'fine', /afterTool answered "fine", where it may answer/],
      ['says null', () => null, /answered null/],
      ['misspells', () => ({ results: 'x' }), /answered \{"results":"x"\}/],
      ['says too much', () => ({ result: 'x', error: true }), /answered/],
      ['says no JSON', () => ({ result: { n: 1n } }), /BigInt/i],
    ]
    for (const [how, afterTool, expected] of wrong) {
      const { agent, script, ofType, records } = await startAgent(context, {
        id: how.replaceAll(' ', '-'),
        tools: [look],
        replies: [calls('c', 'look'), 'ok'],
        afterTool: afterTool as () => undefined,
      })
      await agent.prompt('go').result
      const [said] = resultsOf(script.requests[1])
      assert.match(said!, expected)
      assert.match(said!, /^It ran, but its result is withheld, as it could not be checked\. /)
      assert.equal(
        ofType('error').map(({ error }) => error.code),
        ['HOOK_FAILED'],
        how,
      )
      assert.equal(
        ofType('tool.end').map(({ hook, message }) => [hook, message.isError]),
        [['withheld', true]],
      )
      assert.not.ok(JSON.stringify(await records()).includes('1234'))
    }
  })

  it('that hangs is given up after its time; one that is aborted with its run says nothing', async (context) => {
    const asked = [gate(), gate()]
    let nth = 0
    const { agent, clock, script, ofType } = await startAgent(context, {
      tools: [look],
      replies: [calls('c', 'look'), calls('d', 'look')],
      hookTimeoutMs: 1_000,
      afterTool: () => {
        asked[nth++]!.resolve()
        return never
      },
    })
    const run = agent.prompt('go')
    await asked[0]!.promise
    await clock.advance(1_000)
    await asked[1]!.promise
    assert.match(resultsOf(script.requests[1])[0]!, /afterTool gave no answer within 1000 ms/)
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.equal(
      ofType('tool.end').map(({ hook, message }) => [hook, message.synthetic]),
      [
        ['withheld', undefined],
        [undefined, 'aborted'],
      ],
    )
    assert.is(ofType('error').length, 1)
  })

  it('has a copy of what it sees: to change that changes nothing', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [look],
      replies: [calls('c', 'look'), 'ok'],
      afterTool: (_, { content }) => void Object.assign(content[0]!, { text: 'changed' }),
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), ['the key is 1234'])
  })

  for (const [who, most] of [
    ['a tool', 30_000],
    ['a tool that says how much', 1_000],
    ['a sub-agent', 30_000],
  ] as const)
    it(`says no more than ${who} may`, async (context) => {
      const long = tool('look', () => 'seen', most === 1_000 ? { maxOutputChars: most } : {})
      const helper = defineAgent({ name: 'look', model: policyModel(() => 'seen') })
      const { agent, script } = await startAgent(context, {
        ...(who === 'a sub-agent' ? { agents: [helper] } : { tools: [long] }),
        replies: [calls('c', ['look', { task: 'x' }], ['look', { task: 'x' }]), 'ok'],
        afterTool: ({ callId }) => ({ result: 'x'.repeat(callId === 'c0' ? most : most + 1) }),
      })
      await agent.prompt('go').result
      const said = resultsOf(script.requests[1])
      assert.is(said[0], 'x'.repeat(most))
      assert.ok(said[1] !== 'x'.repeat(most + 1) && said[1]!.length <= most + 200, `${said[1]!.length} characters`)
    })

  it('is not asked about calls that did not run', async (context) => {
    const seen: string[] = []
    const { agent } = await startAgent(context, {
      tools: [look],
      replies: [calls('c', ['look', 'no JSON'], 'nothing', 'look', ['look', { at: 2 }]), 'ok'],
      beforeTool: ({ callId }) => (callId === 'c2' ? { deny: 'no' } : { result: 'known' }),
      afterTool: ({ callId }) => void seen.push(callId),
    })
    await agent.prompt('go').result
    assert.equal(seen, [])
  })

  it('reviews what a client returns for a tool without run', async (context) => {
    const locate = defineTool({ name: 'locate', description: 'Where the user is.', input: z.object({}) })
    const { agent, script, ofType, untilState } = await startAgent(context, {
      tools: [locate],
      replies: [calls('c', 'locate', 'locate'), 'ok'],
      afterTool: (_, { content: [block] }) =>
        block?.type === 'text' && block.text.includes('1234') ? { result: 'somewhere' } : undefined,
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { result: 'street 1234' })
    agent.decide('c1', { error: 'no GPS' })
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['somewhere', 'no GPS'])
    assert.equal(
      ofType('tool.end').map(({ hook, returned, message }) => [hook, returned, message.isError]),
      [
        ['replaced', {}, false],
        [undefined, {}, true],
      ],
    )
  })

  it('reviews the answers of sub-agents', async (context) => {
    const helper = defineAgent({ name: 'helper', model: policyModel(() => 'the key is 1234') })
    const seen: HookedResult[] = []
    const { agent, script } = await startAgent(context, {
      agents: [helper],
      replies: [calls('c', ['helper', { task: 'look' }]), 'ok'],
      afterTool: ({ type }, result) => {
        seen.push(result)
        return { result: `${type}: hidden` }
      },
    })
    await agent.prompt('go').result
    assert.equal(seen, [{ content: [{ type: 'text', text: 'the key is 1234' }], isError: false }])
    assert.equal(resultsOf(script.requests[1]), ['agent: hidden'])
  })
})

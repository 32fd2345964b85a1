import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { BeforeToolAnswer, HookedCall } from '../../src/actors/define/hooks.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { calls, gate, never, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** A tool that says with what it ran. */
const send = (ran: unknown[], options: Parameters<typeof tool>[2] = {}) =>
  tool(
    'send',
    (input) => {
      ran.push(input)
      return 'sent'
    },
    { input: z.object({ to: z.string(), copies: z.number().default(1) }), ...options },
  )

const once = calls('c', ['send', { to: 'ann' }])

describe('beforeTool', (it) => {
  it('is told of the call, and lets it run by saying nothing or allow', async (context) => {
    for (const answer of [undefined, { allow: true } as const]) {
      const ran: unknown[] = []
      const seen: HookedCall[] = []
      const { agent, script, ofType } = await startAgent(context, {
        id: `a${ran.length}${answer === undefined}`,
        tools: [send(ran, { effects: 'idempotent' })],
        replies: [once, 'ok'],
        beforeTool: async (call) => {
          seen.push(call)
          return answer
        },
      })
      await agent.prompt('go').result
      const [{ agent: asker, callId, key, type, name, input, effects, turnIndex, runId }] = seen as [HookedCall]
      assert.equal([callId, type, name, input, effects], ['c0', 'tool', 'send', { to: 'ann', copies: 1 }, 'idempotent'])
      assert.equal([asker, runId, turnIndex], [{ id: agent.id, path: [] }, `${agent.id}/r0`, 0])
      assert.is(key, `${agent.id}/t0/tool/c0`)
      assert.equal(ran, [{ to: 'ann', copies: 1 }])
      assert.equal(resultsOf(script.requests[1]), ['sent'])
      assert.equal(
        ofType('tool.start').map(({ beforeTool, edited }) => [beforeTool, edited]),
        [[true, true]],
      )
    }
  })

  it('changes the arguments: the tool, the log and those who approve see the new ones', async (context) => {
    const ran: unknown[] = []
    const { agent, script, ofType, untilState } = await startAgent(context, {
      tools: [send(ran, { needsApproval: (input) => (input as { to: string }).to === 'bob' })],
      replies: [once, 'ok'],
      beforeTool: () => ({ input: { to: 'bob' } }),
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(
      agent.approvals().map(({ input }) => input),
      [{ to: 'bob', copies: 1 }],
    )
    agent.decide('c0', 'approve')
    await run.result
    assert.equal(ran, [{ to: 'bob', copies: 1 }])
    assert.equal(
      ofType('tool.start').map(({ input, edited }) => [input, edited]),
      [[{ to: 'bob', copies: 1 }, true]],
    )
    assert.equal(
      script.requests[1]!.messages[1]!.content,
      [{ type: 'toolCall', callId: 'c0', name: 'send', input: { to: 'ann' } }],
      'what the model said stays as it was',
    )
  })

  it('denies a call, or answers it: it does not run, and the model reads why or what', async (context) => {
    const ran: unknown[] = []
    const { agent, script, ofType } = await startAgent(context, {
      tools: [send(ran)],
      replies: [calls('c', ['send', { to: 'ann' }], ['send', { to: 'bob' }], ['send', { to: 'eve' }]), 'ok'],
      beforeTool: ({ input }): BeforeToolAnswer => {
        const { to } = input as { to: string }
        if (to === 'ann') return { deny: 'ann is away' }
        return to === 'bob' ? { result: { sent: 'yesterday' } } : undefined
      },
    })
    await agent.prompt('go').result
    assert.equal(ran, [{ to: 'eve', copies: 1 }])
    assert.equal(resultsOf(script.requests[1]), [
      'Denied by the application: it was not run. Reason: ann is away.',
      '{"sent":"yesterday"}',
      'sent',
    ])
    assert.equal(
      ofType('tool.end').map(({ callId, hook }) => [callId, hook]),
      [
        ['c0', 'denied'],
        ['c1', 'answered'],
        ['c2', undefined],
      ],
    )
  })

  it('that fails in any way keeps the call from running, and an error event says so', async (context) => {
    const impossible = { input: { to: 'ann', since: 10n } }
    const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
      [
        'throws',
        () => {
          throw new Error('no database')
        },
        /no database/,
      ],
      ['rejects', () => Promise.reject(new Error('no network')), /no network/],
      ['says yes', () => true, /answered true, where it may answer nothing/],
      ['says null', () => null, /answered null/],
      ['says two things', () => ({ allow: true, deny: 'x' }), /answered \{"allow":true,"deny":"x"\}/],
      ['allows with no', () => ({ allow: false }), /answered \{"allow":false\}/],
      ['denies without a reason', () => ({ deny: ' ' }), /answered \{"deny":" "\}/],
      ['misspells', () => ({ inputs: {} }), /answered \{"inputs":\{\}\}/],
      [
        'gives arguments that do not fit',
        () => ({ input: { to: 7 } }),
        /arguments that do not fit: Invalid arguments: to/,
      ],
      ['gives arguments that are not JSON', () => impossible, /JSON has no bigint/],
    ]
    for (const [how, beforeTool, expected] of wrong) {
      const ran: unknown[] = []
      const { agent, script, ofType } = await startAgent(context, {
        id: how.replaceAll(' ', '-'),
        tools: [send(ran)],
        replies: [once, 'ok'],
        beforeTool: beforeTool as () => undefined,
      })
      const { stopReason } = await agent.prompt('go').result
      assert.equal([how, ran, stopReason], [how, [], 'stop'])
      assert.match(resultsOf(script.requests[1])[0]!, expected)
      assert.match(resultsOf(script.requests[1])[0]!, /^Not run: it could not be checked\. /)
      assert.equal(
        ofType('error').map(({ error }) => error.code),
        ['HOOK_FAILED'],
        how,
      )
      assert.equal(
        ofType('tool.end').map(({ hook }) => hook),
        ['unchecked'],
      )
    }
  })

  it('that hangs is given up after its time, and its signal is aborted', async (context) => {
    let signal: AbortSignal | undefined
    const asked = gate()
    const { agent, clock, script } = await startAgent(context, {
      tools: [send([])],
      replies: [once, 'ok'],
      hookTimeoutMs: 5_000,
      beforeTool: (call) => {
        signal = call.signal
        asked.resolve()
        return never
      },
    })
    const run = agent.prompt('go')
    await asked.promise
    await clock.advance(4_999)
    assert.is(signal!.aborted, false)
    await clock.advance(1)
    await run.result
    assert.ok(signal!.aborted)
    assert.match(resultsOf(script.requests[1])[0]!, /beforeTool gave no answer within 5000 ms/)
  })

  it('is aborted with the run; what it says then is not heard', async (context) => {
    const ran: unknown[] = []
    const asked = gate<AbortSignal>()
    const answer = gate<undefined>()
    const { agent, ofType } = await startAgent(context, {
      tools: [send(ran)],
      replies: [once],
      beforeTool: ({ signal }) => {
        asked.resolve(signal)
        return answer.promise
      },
    })
    const run = agent.prompt('go')
    const signal = await asked.promise
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.ok(signal.aborted)
    answer.resolve(undefined)
    await agent.durable()
    assert.equal([ran, ofType('tool.start'), ofType('error')], [[], [], []])
  })

  it('is not asked about arguments that do not fit, unknown tools, or the tools of the runtime', async (context) => {
    const asked: string[] = []
    const { agent, script } = await startAgent(context, {
      tools: [send([])],
      braking: { revert: true },
      replies: [
        calls('c', ['send', { to: 7 }], 'nothing', [
          'revert_to_state',
          { step: 'n1', category: 'failure', summary: 'x' },
        ]),
        'ok',
      ],
      beforeTool: ({ name }) => {
        asked.push(name)
        return { deny: 'never' }
      },
    })
    await agent.prompt('go').result
    assert.equal(asked, [])
    assert.is(script.requests.length, 2)
  })

  it('decides about calls of sub-agents, by the name of their definition', async (context) => {
    const tasks: string[] = []
    const helper = defineAgent({
      name: 'helper',
      model: policyModel(({ messages }) => {
        const [first] = messages[0]!.content
        tasks.push(first?.type === 'text' ? first.text : '')
        return 'helped'
      }),
    })
    const { agent, script } = await startAgent(context, {
      agents: [helper],
      replies: [calls('c', ['helper', { task: 'look' }], ['helper', { task: 'dig' }]), 'ok'],
      beforeTool: ({ type, name, input, effects }) => {
        assert.equal([type, name, effects], ['agent', 'helper', undefined])
        return (input as { task: string }).task === 'dig' ? { deny: 'no digging' } : { input: { task: 'look well' } }
      },
    })
    await agent.prompt('go').result
    assert.equal(tasks, ['look well'])
    assert.equal(resultsOf(script.requests[1]), [
      'helped',
      'Denied by the application: it was not run. Reason: no digging.',
    ])
  })

  it('must be a function', () => {
    assert.throws(
      () => defineAgent({ name: 'a', model: policyModel(() => 'x'), beforeTool: true as never }),
      withCode('INVALID_DEFINITION', 'beforeTool: give a function'),
    )
  })
})

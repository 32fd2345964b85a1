import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { parallel, race } from '../../packages/groups/src/parallel.ts'
import type { Branch } from '../../packages/groups/src/branch.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { loadSession } from '../../packages/sessions/src/loadSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { never, quiet, saidIn, stalled, startAgent, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { crashingCounter } from '../support/crashingCounter.ts'
import { assert, describe } from '../support/suite.ts'

/** Each input token costs a dollar. */
const pricing = { input: 1_000_000, output: 0 }

const scripted = (name: string, replies: readonly ScriptedReply[], options: Partial<AgentOptions> = {}) =>
  defineAgent({ name, model: scriptedModel(replies), pricing, ...options })

const says = (text: string, dollars = 1, output = 1): ScriptedReply => ({ text, usage: usageOf(dollars, output) })

const failing: ScriptedReply = { error: { kind: 'auth', message: 'no key' } }

const outcome = ({ definition, result }: Branch): [string, string, string] => [
  definition,
  result.stopReason,
  result.text,
]

describe('parallel', (it) => {
  it('gives the same prompt to several children and keeps every branch in the session', async (context) => {
    const model = scriptedModel([says('one', 1), says('two', 2)])
    const twin = defineAgent({ name: 'twin', model, pricing })
    const { agent, store, records } = await startAgent(context)
    const { winner, branches, usage, costUsd } = await parallel(
      agent,
      [twin, scripted('third', [says('three', 4)]), twin],
      'go',
    )
    assert.is(winner, null)
    assert.equal(branches.map(outcome), [
      ['twin', 'stop', 'one'],
      ['third', 'stop', 'three'],
      ['twin', 'stop', 'two'],
    ])
    assert.equal(usage, usageOf(7, 3))
    assert.is(costUsd, 7)
    assert.equal(model.requests.map(saidIn), [['go'], ['go']])
    assert.equal(agent.children(), [])
    const ended = (await records()).flatMap((record) => (record.type === 'child.ended' ? [record.childId] : []))
    assert.equal(ended.toSorted(), branches.map(({ agentId }) => agentId).toSorted())
    for (const { agentId, result } of branches) {
      const session = await loadSession(store, agentId)
      assert.is(session.status, 'completed')
      const [created] = session.records
      assert.is(created?.type === 'agent.created' && created.parent?.agentId, 'a1')
      assert.is(textOf(session.conversation.trunk().at(-1)!.message.content), result.text)
    }
  })

  it('has them work at the same time, as many as the parent may have, again and again', async (context) => {
    const { agent } = await startAgent(context, { maxChildren: 16 })
    let [working, most] = [0, 0]
    const model = scriptedModel(
      Array.from({ length: 32 }, () => async () => {
        most = Math.max(most, ++working)
        await quiet()
        working -= 1
        return 'done'
      }),
    )
    const entries = Array.from({ length: 16 }, () => defineAgent({ name: 'worker', model }))
    const judge = { model: scriptedModel(['5', '6']) }
    for (const index of [4, 5]) {
      const { winner, branches } = await parallel(agent, entries, 'go', { judge })
      assert.is(winner, branches[index])
    }
    assert.is(most, 16)
  })

  it('works without a parent, and each branch can be resumed', async ({ cleanup }) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const worker = scripted('worker', ['first', 'again'])
    const { branches } = await parallel(runtime, [worker], 'go')
    assert.equal(runtime.agents(), [])
    const { agentId } = branches[0]!
    assert.equal(await store.list(), [agentId])
    const agent = await runtime.resume(agentId, worker)
    assert.is((await agent.prompt('more').result).text, 'again')
  })

  it('goes on when branches fail: a model, a limit, a crash that is not begun anew', async (context) => {
    const calls = { toolCalls: [{ name: 'look', input: {} }] }
    const looks = { tools: [tool('look', () => 'seen')] }
    const left = { crashes: 2 }
    const { agent } = await startAgent(context)
    const entries = [
      scripted('failing', [failing]),
      scripted('limited', [calls, calls], looks),
      scripted('crashing', [calls], { ...looks, tokenCounter: crashingCounter(left) }),
      scripted('well', [says('fine')]),
    ]
    const { winner, branches } = await parallel(agent, entries, 'go', {
      limits: { turns: 1 },
      judge: (of) => of.length - 1,
    })
    assert.equal(
      branches.map(({ result }) => [result.stopReason, result.error?.code]),
      [
        ['error', 'MODEL_AUTH'],
        ['paused', undefined],
        ['error', 'INTERNAL'],
        ['stop', undefined],
      ],
    )
    assert.is(winner, branches[3])
    assert.is(left.crashes, 1)
    assert.equal(agent.children(), [])
  })

  it('has no winner when all fail, and asks no judge', async (context) => {
    const { agent } = await startAgent(context)
    const model = scriptedModel([])
    for (const judge of ['first', 'cheapest', { model }, () => assert.unreachable()] as const) {
      const { winner, branches } = await parallel(agent, [scripted('a', [failing]), scripted('b', [failing])], 'go', {
        judge,
      })
      assert.is(winner, null)
      assert.equal(
        branches.map(({ result }) => result.error?.code),
        ['MODEL_AUTH', 'MODEL_AUTH'],
      )
    }
    assert.equal(model.requests, [])
  })
})

describe('a race', (it) => {
  it('is won by the first that ends well; the others are aborted at once', async (context) => {
    const { agent, store } = await startAgent(context)
    const told: boolean[] = []
    const slow: ScriptedReply = (_, { signal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told.push(true)
          reject(new Error('told to stop'))
        })
      })
    const entries = [
      scripted('slow', [slow]),
      scripted('failing', [failing]),
      scripted('quick', [says('won')]),
      scripted('deaf', [stalled(['…'], never)]),
    ]
    const { winner, branches } = await race(agent, entries, 'go')
    assert.equal(branches.map(outcome), [
      ['slow', 'aborted', ''],
      ['failing', 'error', ''],
      ['quick', 'stop', 'won'],
      ['deaf', 'aborted', '…'],
    ])
    assert.is(winner, branches[2])
    assert.equal(told, [true])
    assert.is((await loadSession(store, branches[0]!.agentId)).status, 'aborted')
    assert.equal(agent.children(), [])
  })

  it('has one winner when two end in the same tick', async (context) => {
    const { agent } = await startAgent(context)
    const { winner, branches } = await race(agent, [scripted('a', ['a']), scripted('b', ['b'])], 'go')
    assert.equal(
      branches.map(({ result }) => result.stopReason),
      ['stop', 'stop'],
    )
    assert.is(winner, branches[0])
  })
})

describe('a judge', (it) => {
  it('finds the cheapest of those that ended well', async (context) => {
    const { agent } = await startAgent(context)
    const entries = [
      scripted('dear', [says('a', 5)]),
      scripted('failing', [failing]),
      scripted('chatty', [says('b', 2, 9)]),
      scripted('terse', [says('c', 2, 3)]),
    ]
    const { winner } = await parallel(agent, entries, 'go', { judge: 'cheapest' })
    assert.is(winner?.definition, 'terse')
  })

  it('that is a function chooses by index or by branch, now or later, among those that ended well', async (context) => {
    const { agent } = await startAgent(context)
    const seen: string[][] = []
    const look = (branches: readonly Branch[]): readonly Branch[] => {
      seen.push(branches.map(({ definition }) => definition))
      return branches
    }
    for (const judge of [
      (of: readonly Branch[]) => look(of).length - 1,
      (of: readonly Branch[]) => look(of)[1]!,
      async (of: readonly Branch[]) => look(of)[1]!,
    ]) {
      const entries = [scripted('a', ['a']), scripted('failing', [failing]), scripted('b', ['b'])]
      const { winner, branches } = await parallel(agent, entries, 'go', { judge })
      assert.is(winner, branches[2])
    }
    assert.equal(seen, [
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it('that is a function and fails rejects the group, and every agent is closed', async (context) => {
    const { agent } = await startAgent(context)
    const defect = new Error('cannot say')
    const judges: readonly (readonly [() => unknown, string])[] = [
      [() => Promise.reject(defect), 'The judge threw: cannot say.'],
      [() => 1, 'chose 1,'],
      [() => -1, 'chose -1,'],
      [() => 0.5, 'chose 0.5,'],
      [() => {}, 'type undefined'],
      [() => null, 'type null'],
      [() => ({ agentId: 'a1.s1' }), 'type object'],
    ]
    for (const [judge, word] of judges) {
      const group = parallel(agent, [scripted('a', ['a'])], 'go', { judge: judge as never, keep: true })
      await assert.rejects(group, withCode('JUDGE_FAILED', word))
      assert.equal(agent.children(), [])
    }
    const group = parallel(agent, [scripted('a', ['a'])], 'go', { judge: () => Promise.reject(defect) })
    await assert.rejects(group, (thrown: unknown) => (thrown as Error).cause === defect)
  })

  it('that is a model sees task and answers, says a number, and its cost counts', async (context) => {
    const { agent, store } = await startAgent(context)
    const model = scriptedModel([says('2', 10)])
    const entries = [scripted('a', [says('an apple')]), scripted('failing', [failing]), scripted('b', [says('a pear')])]
    const { winner, branches, usage, costUsd, judgeId } = await parallel(agent, entries, 'Name a fruit', {
      judge: { model, instructions: 'Pears are best.', pricing },
    })
    assert.is(winner, branches[2])
    assert.equal(usage, usageOf(12, 3))
    assert.is(costUsd, 12)
    const [request] = model.requests
    assert.is(request!.system, 'Pears are best.')
    const [said] = request!.messages.map(({ content }) => textOf(content))
    assert.match(
      said!,
      /Name a fruit[^]*<answer number="1">\nan apple\n[^]*<answer number="2">\na pear\n[^]*from 1 to 2/,
    )
    assert.is((await loadSession(store, judgeId!)).status, 'completed')
    assert.equal(agent.children(), [])
  })

  it('that is an agent is asked as a model is', async (context) => {
    const { agent } = await startAgent(context)
    const model = scriptedModel([{ toolCalls: [{ name: 'measure', input: {} }] }, 'Number 1.'])
    const judge = defineAgent({ name: 'umpire', model, tools: [tool('measure', () => '42 cm')] })
    const { winner } = await parallel(agent, [scripted('a', ['a']), scripted('b', ['b'])], 'go', { judge })
    assert.is(winner?.definition, 'a')
  })

  it('that is a model is asked once more when it says no number, and both askings count', async (context) => {
    const { agent } = await startAgent(context)
    const model = scriptedModel([says('I like 1 and 2', 3), says('1', 4)])
    const group = await parallel(agent, [scripted('a', [says('a')]), scripted('b', [says('b')])], 'go', {
      judge: { model, pricing },
    })
    assert.is(group.winner?.definition, 'a')
    assert.is(group.costUsd, 9)
    assert.match(saidIn(model.requests[1]).at(-1)!, 'one number from 1 to 2')
  })

  it('that is a model and says no number twice, or fails, rejects the group', async (context) => {
    const { agent } = await startAgent(context)
    const judges: readonly (readonly [readonly ScriptedReply[], string])[] = [
      [['both', '3'], '"3", asked twice for a number from 1 to 2'],
      [[failing], 'no key'],
      [[{ text: '1', stopReason: 'length' }], '"length"'],
    ]
    for (const [replies, word] of judges) {
      const entries = [scripted('a', ['a']), scripted('b', ['b'])]
      const group = parallel(agent, entries, 'go', { judge: { model: scriptedModel(replies) }, keep: true })
      await assert.rejects(group, withCode('JUDGE_FAILED', word))
      assert.equal(agent.children(), [])
    }
  })

  it('that is a model is not asked about the only one that ended well', async (context) => {
    const { agent } = await startAgent(context)
    const model = scriptedModel([])
    const entries = [scripted('failing', [failing]), scripted('b', ['b'])]
    const { winner, judgeId } = await parallel(agent, entries, 'go', { judge: { model } })
    assert.is(winner?.definition, 'b')
    assert.is(judgeId, undefined)
    assert.equal(model.requests, [])
  })
})

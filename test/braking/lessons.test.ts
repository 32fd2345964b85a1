import * as fc from 'fast-check'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { parallel, race } from '../../packages/groups/src/parallel.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const failing = (name = 'build', options: Parameters<typeof tool>[2] = {}) =>
  tool(
    name,
    () => {
      throw new Error('out of memory')
    },
    options,
  )

const giveUp = (id: string, step = 'n1', category = 'failure', summary = 'needs more memory'): ScriptedReply =>
  calls(id, ['revert_to_state', { category, step, ...(summary === '' ? {} : { summary }) }])

/** The text of results, each without the id of its step. */
const told = (request: ModelRequest | undefined): string[] =>
  resultsOf(request).map((text) => text.replace(/\n?\[n\d+\]/, ''))

const line = 'tried before at n2–n5 (abandoned): needs more memory'
const braking = { revert: true, lessons: true } as const

describe('lessons as memory', (it) => {
  it('stand at the end of the result of a call that was given up before, which runs all the same', async (context) => {
    let runs = 0
    const { agent, script, records, store } = await startAgent(context, {
      braking,
      tools: [
        tool('build', () => {
          runs += 1
          if (runs === 1) throw new Error('out of memory')
          return 'built'
        }),
      ],
      replies: [
        calls('a', ['build', { all: true }]),
        giveUp('b'),
        calls('c', ['build', { all: true }], ['build', {}]),
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.is(runs, 3)
    assert.equal(told(script.requests[3]), [`built${line}`, 'built'])
    const ends = (await records()).flatMap((record) => (record.type === 'tool.end' ? [record.message] : []))
    const noted = ends.filter(({ hasLesson }) => hasLesson === true)
    assert.equal(
      noted.map(({ content }) => content),
      [
        [
          { type: 'text', text: 'built' },
          { type: 'text', text: line },
        ],
      ],
    )
    const all = await records()
    const again = rebuildConversation(all)
    assert.equal(again.trunk(), agent.conversation.trunk())
    assert.ok(store)
  })

  it('are there after a restart, as they are taken from the log', async (context) => {
    const store = memoryStore()
    const { agent } = await startAgent(context, {
      store: { ...store, close: async () => {} },
      braking,
      tools: [failing()],
      replies: [calls('a', 'build'), giveUp('b'), 'later'],
      check: false,
    })
    await agent.prompt('go').result
    await agent.close()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const script = scriptedModel([calls('c', 'build'), 'done'])
    const next = await runtime.resume('a1', defineAgent({ name: 'tester', model: script, tools: [failing()], braking }))
    await next.prompt('again').result
    assert.match(told(script.requests[1]).at(-1) ?? '', `out of memory${line}`)
  })

  it('are none for tools that wait and for the brakes', async (context) => {
    const { agent, records, ofType } = await startAgent(context, {
      braking,
      tools: [failing('poll', { polls: true })],
      replies: [calls('a', 'poll'), giveUp('b'), calls('c', 'poll'), giveUp('d'), 'done'],
    })
    await agent.prompt('go').result
    assert.is(ofType('revert.applied').filter(({ applied }) => applied).length, 2)
    assert.not.match(JSON.stringify(await records()), /tried before|hasLesson/)
  })

  it('are none of what was condensed', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking,
      tools: [failing()],
      replies: [calls('a', 'build'), giveUp('b', 'n1', 'completion', 'all is done'), calls('c', 'build'), 'done'],
    })
    await agent.prompt('go').result
    assert.is(ofType('revert.applied')[0]?.applied, true)
    assert.equal(told(script.requests[3]), ['out of memory'])
  })

  it('do not hide from the runtime that an agent goes in circles, nor what an error was', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      braking: { revert: true, lessons: true, stall: { rules: ['repeat'], note: false, revert: false, pause: false } },
      tools: [failing()],
      replies: [calls('a', 'build'), giveUp('b'), calls('c', 'build'), giveUp('d'), calls('e', 'build'), 'done'],
    })
    await agent.prompt('go').result
    const stalls = ofType('stall.detected')
    const repeat = stalls.find(({ rule }) => rule === 'repeat')
    assert.match(repeat?.evidence ?? '', /the same call with the same result 3 times: build.*out of memory$/)
    assert.equal(
      ofType('revert.applied').flatMap(({ tag }) => tag?.evidence.calls.map(({ lastError }) => lastError) ?? []),
      ['out of memory', 'out of memory'],
    )
  })

  it('hold no secret that the log does not', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      braking,
      redact: { patterns: [/sk-\w+/g] },
      tools: [failing()],
      replies: [
        calls('a', ['build', { key: 'sk-abc' }]),
        giveUp('b', 'n1', 'failure', ''),
        calls('c', ['build', { key: 'sk-abc' }]),
        'done',
      ],
      check: false,
    })
    await agent.prompt('go').result
    assert.match(told(script.requests[3]).at(-1) ?? '', 'tried before at n2–n5 (abandoned): out of memory')
    assert.not.match(JSON.stringify(await records()), 'sk-abc')
  })
})

describe('without the switch', (it) => {
  const call = fc.constantFrom('build', 'look', 'fail')
  const turn = fc.oneof(
    fc.record({ names: fc.array(call, { minLength: 1, maxLength: 3 }), n: fc.integer({ min: 0, max: 1 }) }),
    fc.constantFrom('failure', 'tangent', 'completion'),
  )

  /** The same script for every agent: what it says does not depend on what it reads. */
  const repliesOf = (turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[]): ScriptedReply[] => [
    ...turns.map((each, at) =>
      typeof each === 'string'
        ? giveUp(`t${at}-`, 'n1', each)
        : calls(`t${at}-`, ...each.names.map((name) => [name, { n: each.n }] as const)),
    ),
    'done',
  ]

  it(
    'no request and no record differs by a byte; with it they differ by the lessons alone',
    { timeoutMs: 30_000 },
    async (context) => {
      let lessons = 0
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
          const run = async (options: object) => {
            const cleanups: (() => unknown)[] = []
            const { agent, script, records } = await startAgent(
              { cleanup: (work) => void cleanups.unshift(work) },
              {
                braking: options,
                compaction: false,
                tools: [failing('fail'), tool('build', () => 'built'), tool('look', () => 'seen')],
                replies: repliesOf(turns),
              },
            )
            await agent.prompt('go').result
            const made = { requests: script.requests, records: await records() }
            for (const cleanup of cleanups) await cleanup()
            return made
          }
          const [never, off, on] = [
            await run({ revert: true }),
            await run({ revert: true, lessons: false }),
            await run(braking),
          ]
          assert.is(JSON.stringify(off.requests), JSON.stringify(never.requests))
          assert.is(JSON.stringify(off.records), JSON.stringify(never.records))
          const { requests, count } = withoutLessons(on.requests)
          lessons += count
          assert.is(JSON.stringify(requests), JSON.stringify(never.requests))
        }),
        { numRuns: 25, seed: 7 },
      )
      assert.ok(lessons > 10, `${lessons} lessons`)
      assert.ok(context)
    },
  )

  function withoutLessons(requests: readonly ModelRequest[]): { requests: ModelRequest[]; count: number } {
    let count = 0
    const clean = requests.map((request) => ({
      ...request,
      messages: request.messages.map((message) => {
        const last = message.content.at(-1)
        if (last?.type !== 'text' || !last.text.startsWith('tried before')) return message
        count += 1
        // The id of the step stands at its end.
        const id = /\n\[n\d+\]$/.exec(last.text)?.[0] ?? ''
        const content = message.content.slice(0, -1)
        const before = content.at(-1)
        if (before?.type === 'text') content[content.length - 1] = { ...before, text: before.text + id }
        return { ...message, content }
      }),
    }))
    return { requests: clean, count }
  }
})

describe('agents of a group', (it) => {
  const attempt = (name: string, replies: readonly ScriptedReply[], options: object) => {
    const model = scriptedModel(replies)
    return { model, definition: defineAgent({ name, model, braking: options, tools: [failing()], compaction: false }) }
  }

  it('are told what failed for the others, by name, while the group runs', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const failed = gate()
    const first = attempt('first', [calls('a', ['build', { n: 1 }]), () => (failed.resolve(), 'gave up')], {
      lessons: true,
    })
    const second = attempt(
      'second',
      [
        async () => {
          await failed.promise
          return calls('b', ['build', { n: 1 }], ['build', { n: 2 }]) as never
        },
        'done',
      ],
      { lessons: true },
    )
    const third = attempt(
      'third',
      [
        async () => {
          await failed.promise
          return calls('c', ['build', { n: 1 }]) as never
        },
        'done',
      ],
      {},
    )
    await parallel(runtime, [first.definition, second.definition, third.definition], 'go')
    assert.match(told(second.model.requests[1])[0] ?? '', 'out of memorytried by first (failed): out of memory')
    assert.equal(told(second.model.requests[1])[1], 'out of memory')
    assert.equal(told(third.model.requests[1]), ['out of memory'], 'one that does not have lessons on')
  })

  it('are told what another gave up with a revert', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const reverted = gate()
    const first = attempt(
      'first',
      [calls('a', ['build', { n: 1 }]), giveUp('b'), () => (reverted.resolve(), 'another way')],
      braking,
    )
    const second = attempt(
      'second',
      [
        async () => {
          await reverted.promise
          return calls('c', ['build', { n: 1 }]) as never
        },
        'done',
      ],
      { lessons: true },
    )
    await parallel(runtime, [first.definition, second.definition], 'go')
    assert.equal(told(second.model.requests[1]), ['out of memorytried by first (abandoned): needs more memory'])
  })

  it('are told nothing once it is over', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const first = attempt('first', [calls('a', 'build'), 'done', calls('b', 'build'), 'done'], { lessons: true })
    const second = attempt('second', [calls('a', 'build'), () => new Promise<never>(() => {})], { lessons: true })
    const { winner } = await race(runtime, [first.definition, second.definition], 'go', { keep: true })
    const kept = runtime.agent(winner!.agentId)!
    await kept.prompt('again').result
    assert.not.match(told(first.model.requests[3]).join(), 'tried by')
  })
})

import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { atMost } from '../src/atMost.ts'
import { parallel } from '../src/parallel.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { never, quiet, startAgent, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const scripted = (name: string, replies: readonly ScriptedReply[]) =>
  defineAgent({ name, model: scriptedModel(replies) })

const goesOn = { isOver: () => false, failed: () => {} }

describe('atMost', (it) => {
  it('works on so many at once, and keeps the order of the items', async () => {
    const under = { way: 0, most: 0 }
    const doubled = await atMost(
      3,
      [1, 2, 3, 4, 5, 6, 7, 8],
      async (item) => {
        under.way += 1
        under.most = Math.max(under.most, under.way)
        for (let i = 0; i < 10 - item; i += 1) await Promise.resolve()
        under.way -= 1
        return item * 2
      },
      goesOn,
    )
    assert.equal([doubled, under.most], [[2, 4, 6, 8, 10, 12, 14, 16], 3])
  })

  it('begins no more after a failure, and rejects once those under way have ended', async () => {
    const begun: number[] = []
    const ended: number[] = []
    let failures = 0
    const work = async (item: number) => {
      begun.push(item)
      if (item === 2) throw new Error('no')
      for (let i = 0; i < 5; i += 1) await Promise.resolve()
      ended.push(item)
      return item
    }
    const done = atMost(3, [1, 2, 3, 4, 5], work, { isOver: () => false, failed: () => (failures += 1) })
    await assert.rejects(done, (thrown) => thrown instanceof Error && thrown.message === 'no')
    assert.equal([begun, ended, failures], [[1, 2, 3], [1, 3], 1])
  })
})

describe('atMost, once it is over', (it) => {
  it('begins no more', async () => {
    const begun: number[] = []
    const isOver = (): boolean => begun.length === 2
    const done = await atMost(1, [1, 2, 3, 4], async (item) => begun.push(item), { isOver, failed: () => {} })
    assert.equal(
      [begun, done],
      [
        [1, 2],
        [1, 2, undefined, undefined],
      ],
    )
  })
})

describe('parallel with concurrency', (it) => {
  it('runs more agents than may be alive, in turn, in the order of the entries', async (context) => {
    const { agent } = await startAgent(context)
    let most = 0
    const watched = (number: number) =>
      scripted('worker', [
        async () => {
          most = Math.max(most, agent.children().length)
          await quiet()
          return `${number}`
        },
      ])
    const entries = Array.from({ length: 120 }, (_, number) => watched(number))
    const { winner, branches, notBegun } = await parallel(agent, entries, 'go', { concurrency: 8 })
    assert.equal(
      branches.map(({ result }) => result.text),
      entries.map((_, number) => `${number}`),
    )
    assert.equal([winner, notBegun, most, agent.children()], [null, undefined, 8, []])
  })

  it('begins no more once it is aborted, and says which were not', async (context) => {
    const { runtime } = await startAgent(context)
    const abort = new AbortController()
    const slow = scripted('slow', [
      () => {
        abort.abort()
        return never
      },
    ])
    const entries = [scripted('a', ['a']), slow, scripted('b', ['b']), scripted('c', ['c'])]
    const { branches, notBegun } = await parallel(runtime, entries, 'go', { concurrency: 1, signal: abort.signal })
    assert.equal(
      branches.map(({ result }) => result.stopReason),
      ['stop', 'aborted'],
    )
    assert.equal(notBegun, [2, 3])
    const none = await parallel(runtime, [slow], 'go', { concurrency: 1, signal: AbortSignal.abort() })
    assert.equal([none.branches, none.notBegun], [[], [0]])
  })

  it('begins no more once the first has won', async (context) => {
    const { agent } = await startAgent(context)
    const failing: ScriptedReply = { error: { kind: 'auth', message: 'no key' } }
    const entries = [scripted('a', [failing]), scripted('b', ['b']), scripted('c', ['c'])]
    const { winner, notBegun } = await parallel(agent, entries, 'go', { concurrency: 1, judge: 'first' })
    assert.equal([winner?.definition, notBegun], ['b', [2]])
  })

  it('asks nobody who was still being opened when the first had won', async (context) => {
    const opening = Promise.withResolvers<void>()
    const kept = memoryStore()
    const store: Store = {
      ...kept,
      open: async (id, options) => {
        if (id.startsWith('late')) await opening.promise
        return kept.open(id, options)
      },
    }
    const { runtime } = await startAgent(context, { store })
    const late = scripted('late', ['late'])
    const quick = scripted('quick', [() => (queueMicrotask(() => setImmediate(() => opening.resolve())), 'quick')])
    const { winner, notBegun } = await parallel(runtime, [quick, late], 'go', { concurrency: 2, judge: 'first' })
    assert.equal([winner?.definition, notBegun], ['quick', [1]])
  })

  it('is judged like any other', async (context) => {
    const { agent } = await startAgent(context)
    const entries = [scripted('a', ['a']), scripted('b', ['b']), scripted('c', ['c'])]
    const judge = { model: scriptedModel(['2']) }
    const { winner } = await parallel(agent, entries, 'go', { concurrency: 2, judge, keep: true })
    assert.is(winner?.definition, 'b')
    assert.equal(
      agent.children().map(({ id }) => id),
      [winner?.agentId],
    )
  })

  it('rejects with what a spawn throws, and leaves no agent behind', async (context) => {
    const store = memoryStore()
    const open: Store['open'] = async (agentId) => {
      if (agentId === 'a1.s3') throw new Error('the disk is full')
      return store.open(agentId)
    }
    const { agent } = await startAgent(context, { store: { ...store, open } })
    const entries = [scripted('slow', [() => never]), scripted('quick', ['done']), scripted('late', ['late'])]
    await assert.rejects(
      parallel(agent, entries, 'go', { concurrency: 2 }),
      withCode('CHILD_REFUSED', 'the disk is full'),
    )
    assert.equal(agent.children(), [])
  })

  it('refuses a number that is none, more at once than there is room for, and too many to keep', async (context) => {
    const { agent, runtime } = await startAgent(context)
    const worker = scripted('worker', ['done'])
    const many = Array.from({ length: 101 }, () => worker)
    for (const concurrency of [0, -1, 1.5, '2'])
      await assert.rejects(
        parallel(agent, [worker], 'go', { concurrency } as never),
        withCode('INVALID_OPTION', 'concurrency'),
      )
    await assert.rejects(parallel(agent, many, 'go', { concurrency: 17 }), withCode('CHILD_REFUSED', '17'))
    await assert.rejects(
      parallel(runtime, many, 'go', { concurrency: 2, keep: true }),
      withCode('INVALID_OPTION', '101'),
    )
  })
})

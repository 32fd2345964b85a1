import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import type { WaitedFor } from '../../src/actors/tools/waitForTool.ts'
import type { AgentContext } from '../../src/machines/agentTypes.ts'
import type { ChildHosts } from '../../src/runtime/children/childHosts.ts'
import { noEarlier, sinceCall, wantedEarlier } from '../../src/runtime/children/continued.ts'
import { DetachedAgents } from '../../src/runtime/children/detachedAgents.ts'
import type { TreeAgent } from '../../src/runtime/children/treeAgent.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

type Known = Pick<AgentContext, 'reporters' | 'followUps' | 'steering' | 'policy'>

const reporter = (childId: string) => ({ childId, name: `${childId}-name`, key: `${childId}-key` })
const report = (agentId: string, text = `${agentId} reports`) => ({
  id: `m-${agentId}`,
  content: [{ type: 'text', text }],
  provenance: { type: 'report', agentId },
})
const note = (text: string) => ({ id: `n-${text}`, content: [{ type: 'text', text }] })
const knownOf = (
  working: readonly string[],
  reports: readonly object[] = [],
  steering: readonly object[] = [],
): Known => ({ reporters: working.map(reporter), followUps: reports, steering, policy: {} }) as unknown as Known

/** A wait of an agent of which this is known, and nothing else happens: whether it ends by itself, and its result once it is told to. */
async function waitAt(
  known: Known,
  meant: readonly string[] | undefined,
): Promise<{ readonly isOver: boolean; readonly result: WaitedFor }> {
  const clock = simulatedClock(0)
  const parent = { machine: { context: known }, shared: { clock } } as unknown as TreeAgent
  const abort = new AbortController()
  let isOver = false
  const wait = new DetachedAgents(parent, {} as ChildHosts).waitFor({ ids: meant, ms: 100 }, abort.signal)
  void wait.then(() => (isOver = true))
  await quiet()
  const wasOver = isOver
  assert.is(clock.pending, wasOver ? 0 : 1)
  abort.abort()
  const result = await wait
  assert.is(clock.pending, 0)
  return { isOver: wasOver, result }
}

describe('a wait for agents', (it) => {
  it('is over once none of those meant works, or somebody speaks', async () => {
    for (const [working, meant, spoken, over] of [
      [[], undefined, false, true],
      [['a'], undefined, false, false],
      [['a'], undefined, true, true],
      [['a'], [], false, true],
      [['a'], ['a'], false, false],
      [['a'], ['b'], false, true],
      [['a', 'b'], ['b'], false, false],
      [['a', 'b'], ['b'], true, true],
    ] as const)
      assert.is(
        (await waitAt(knownOf(working, [], spoken ? [note('hey')] : []), meant)).isOver,
        over,
        JSON.stringify([working, meant, spoken]),
      )
  })

  it('looks again with each step of its agent, and ends with its time', async () => {
    const clock = simulatedClock(0)
    const machine = { context: knownOf(['a', 'b']) }
    const agents = new DetachedAgents({ machine, shared: { clock } } as unknown as TreeAgent, {} as ChildHosts)
    const texts: string[] = []
    const wait = (meant: readonly string[]): void =>
      void agents.waitFor({ ids: meant, ms: 100 }, new AbortController().signal).then(({ text }) => texts.push(text))
    wait(['a'])
    wait(['b'])
    machine.context = knownOf(['b'], [report('a')])
    await quiet()
    assert.equal(texts, [])
    agents.look()
    await quiet()
    assert.equal([texts, clock.pending], [['a reports'], 1])
    await clock.advance(99)
    assert.is(texts.length, 1)
    await clock.advance(1)
    assert.equal(texts.slice(1), ['Still at work: b (b-name).'])
    assert.is(clock.pending, 0)
  })

  it('tells what is there, what still works and why it ends, in every combination', async () => {
    for (const working of [[], ['a'], ['a', 'b']])
      for (const reported of [[], ['c'], ['c', 'd']])
        for (const meant of [undefined, [], ['a'], ['c'], ['a', 'c', 'x']])
          for (const isSpoken of [false, true]) {
            const label = JSON.stringify({ working, reported, meant, isSpoken })
            const isMeant = (id: string): boolean => meant?.includes(id) ?? true
            const messages = [note('a follow-up'), ...reported.map((id) => report(id))]
            const { result } = await waitAt(knownOf(working, messages, isSpoken ? [note('hey')] : []), meant)
            const { text, delivers } = result
            const [there, busy] = [reported.filter(isMeant), working.filter(isMeant)]
            assert.equal(
              delivers,
              there.map((id) => `m-${id}`),
              label,
            )
            for (const id of reported) assert.is(text.includes(`${id} reports`), there.includes(id), label)
            assert.not.match(text, 'a follow-up')
            const names = busy.map((id) => `${id} (${id}-name)`).join(', ')
            assert.is(text.includes(`Still at work: ${names}.`), busy.length > 0, label)
            assert.is(text.includes('Still at work'), busy.length > 0, label)
            assert.is(text.includes('Somebody has spoken'), isSpoken && busy.length > 0, label)
            const isNothing = there.length === 0 && busy.length === 0
            assert.is(/No agent is|No other is|none has reported/.test(text), isNothing, label)
            if (isNothing && meant !== undefined)
              assert.is(text.includes('Those that are: '), working.length > 0, label)
            assert.not.match(text, 'more have reported')
          }
  })

  it('gives as many reports as fit, the first in any case, and says how many follow', async () => {
    for (const [sizes, held] of [
      [[100_000], 1],
      [[100_001], 1],
      [[100_001, 1], 1],
      [[60_000, 40_000], 2],
      [[60_000, 40_001], 1],
      [[60_000, 40_000, 1], 2],
      [[50_000, 60_000, 1], 1],
    ] as const) {
      const reports = sizes.map((size, at) => report(`r${at}`, 'x'.repeat(size)))
      const { text, delivers } = (await waitAt(knownOf(['a'], reports), undefined)).result
      assert.is(delivers.length, held, JSON.stringify(sizes))
      assert.is(text.includes(`${sizes.length - held} more have reported`), held < sizes.length)
    }
  })
})

describe('going on with an earlier agent', (it) => {
  it('is asked for by a name alone', () => {
    const field = 'continue'
    const continuable = { continuable: true }
    for (const [input, wanted] of [
      [{ [field]: 'a.1' }, 'a.1'],
      [{ [field]: '' }, undefined],
      [{ [field]: null }, undefined],
      [{}, undefined],
      [{ [field]: 5 }, '5'],
      [{ [field]: { id: 'a' } }, '{"id":"a"}'],
      [null, undefined],
      ['a.1', undefined],
      [undefined, undefined],
    ] as const) {
      assert.is(wantedEarlier(continuable, input), wanted)
      assert.is(wantedEarlier({ continuable: false }, input), undefined)
    }
  })

  const start = (key: string) => ({ type: 'run.start', requestId: key })
  const queued = (key: string) => ({ type: 'queue.changed', added: { id: key } })
  const end = (turns: number) => ({
    type: 'run.end',
    usage: { input: turns, output: 0, cacheRead: 0, cacheWrite: 0 },
    costUsd: 0,
    turns,
  })

  it('counts what came before the call, wherever that begins in the log', () => {
    const other = [start('k1'), end(2)]
    for (const [records, own] of [
      [[...other, start('k2'), end(1)], 2],
      [[...other, queued('k2'), start('k2')], 2],
      [[start('k2'), end(1)], 0],
      [[queued('k2')], 0],
      [other, 2],
      [[...other, { type: 'queue.changed', removed: ['k2'] }], 3],
    ] as const) {
      const history = { records, past: [] } as never
      const found = sinceCall({ continuable: true }, history, 'k2')
      assert.equal(found.own.records, records.slice(own))
      assert.is(found.before?.usage.input, records.slice(0, own).length > 0 ? 2 : 0)
      const whole = sinceCall({ continuable: false }, history, 'k2')
      assert.equal([whole.own.records, whole.before], [records as never, undefined])
    }
  })

  it('is refused with the names of those that were called, the newest twenty, each once, with what they were first asked', async () => {
    const call = (childId: string | undefined, task: unknown, name = 'helper', type = 'tool.start') => ({
      type,
      name,
      childId,
      input: task,
    })
    const log: object[] = [
      call('a.0', { task: 'first' }),
      call('a.0', { task: 'again' }),
      call('a.1', { task: 'x'.repeat(100) }),
      call('a.2', { other: 1 }),
      call('a.3', null),
      call('a.4', 'text'),
      call('a.5', { task: 7 }),
      call('b.0', { task: 'of another' }, 'other'),
      call(undefined, { task: 'not begun' }),
      call('a.9', { task: 'an end' }, 'helper', 'tool.end'),
      call('gone', { task: 'the one itself' }),
    ]
    let written = Promise.withResolvers<void>()
    const parent = {
      agentId: 'a',
      log: { durable: () => written.promise },
      store: {
        async *read(): AsyncGenerator<LogRecord> {
          yield* log as LogRecord[]
        },
      },
    } as unknown as TreeAgent
    const input = { name: 'helper' } as never
    const refused = noEarlier(parent, input, 'gone')
    // What is still on its way to the log counts.
    log.push(call('a.6', { task: 'the last' }))
    written.resolve()
    const { text, isError } = await refused
    assert.is(isError, true)
    const there = `a.0 ("first"), a.1 ("${'x'.repeat(59)}…"), a.2 (""), a.3 (""), a.4 (""), a.5 (""), a.6 ("the last")`
    assert.match(text, `Those that you called before: ${there}. Leave`)
    log.length = 0
    assert.match(
      (await noEarlier(parent, input, 'y'.repeat(200))).text,
      `"${'y'.repeat(99)}…" to go on with. You have called none`,
    )
    for (let n = 0; n < 25; n += 1) log.push(call(`c.${n}`, { task: `${n}` }))
    const many = (await noEarlier(parent, input, 'gone')).text
    assert.ok(!many.includes('c.4 (') && many.includes('c.5 (') && many.includes('c.24 ('))
    written = Promise.withResolvers()
    written.reject(new Error('the disk is full'))
    await assert.rejects(noEarlier(parent, input, 'gone'), /the disk is full/)
  })
})

import { Folding } from '../../../src/log/fold.ts'
import { forkSession } from '../src/forkSession.ts'
import { listSessions } from '../src/listSessions.ts'
import { loadSession } from '../src/loadSession.ts'
import { outlineFold, outlineOf, titleOf } from '../../../src/log/outline.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { recordVersion, type LogRecord } from '../../../src/protocol/records.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { calls, startAgent, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { created, logOf, storeOf } from './sessionLogs.ts'

/** The titles of all sessions in a store. */
const titlesIn = async (store: Store): Promise<string[]> =>
  (await listSessions(store)).map(({ id, title }) => `${id}: ${title}`).toSorted((a, b) => (a < b ? -1 : 1))

const family = '👨‍👩‍👧‍👦'

describe('a title', (it) => {
  it('is one line of at most 60 characters as people count them', () => {
    assert.is(titleOf('  Fix the\n\n\ttests\u0007 '), 'Fix the tests')
    assert.is(titleOf('x'.repeat(60)), 'x'.repeat(60))
    assert.is(titleOf('x'.repeat(61)), `${'x'.repeat(59)}…`)
    assert.is(titleOf(family.repeat(10)), family.repeat(10))
    const cut = titleOf(`${'é'.repeat(59)}${'e\u0301'.repeat(5)}`)!
    assert.is(cut, `${'é'.repeat(59)}…`)
    assert.is(titleOf('x'.repeat(1_000_000))!.length, 60)
  })

  it('keeps no half of a character, and no letters that turn the order of others', () => {
    assert.is(titleOf(family.repeat(100)), `${family.repeat(20)}…`)
    assert.is(titleOf('a\u202Eb'), 'ab')
    assert.ok(titleOf(`a${'\u0301'.repeat(5_000)}`)!.length <= 60)
    assert.ok(titleOf('😀'.repeat(3_000))!.isWellFormed())
    for (const nothing of ['', ' \n', '\u0000']) assert.is(titleOf(nothing), undefined)
  })
})

describe('what a log says in outline', (it) => {
  it('is what the agent was first asked, since when it works, and how its last run ended', async (context) => {
    const { agent, clock, records } = await startAgent(context, {
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), 'found', { error: { kind: 'auth', message: 'no such model' } }, 'again'],
    })
    const begun = clock.now() + 1_000
    await clock.advance(1_000)
    await agent.prompt('Search it\nwell').result
    await clock.advance(500)
    assert.is((await agent.prompt('and more').result).stopReason, 'error')
    const log = await records()
    const after = (isLast: (record: LogRecord) => boolean) => outlineOf(log.slice(0, log.findIndex(isLast) + 1))
    const first = after(({ type }) => type === 'tool.start')
    assert.equal([first.title, first.busySince, first.last], ['Search it well', begun, undefined])
    const done = after(({ type }) => type === 'run.end')
    assert.equal([done.busySince, done.last], [undefined, { stopReason: 'stop', at: begun }])
    const failed = outlineOf(log)
    assert.is(failed.title, 'Search it well')
    assert.equal([failed.last?.stopReason, failed.activeAt], ['error', begun + 500])
    assert.match(failed.last!.error!.message, /no such model/)
    const next = outlineOf([...log, { ...log.find(({ type }) => type === 'run.start')!, time: 9 }])
    assert.equal([next.last, next.busySince], [undefined, 9])
  })

  it('has the tokens of the last request, cached ones too', async (context) => {
    const usage = { input: 5, output: 1_000, cacheRead: 20, cacheWrite: 3 }
    const { agent, records } = await startAgent(context, { replies: [{ text: 'a', usage }] })
    await agent.prompt('x').result
    assert.is(outlineOf(await records()).requestTokens, 28)
  })

  it('takes the prompt, and not the messages of its context or other parts, for a title', async (context) => {
    const { agent, records } = await startAgent(context, { replies: ['a', 'b'] })
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    await agent.prompt([image]).result
    assert.is(outlineOf(await records()).title, undefined)
    await agent.prompt('What is it?', { context: [{ content: 'A memory' }] }).result
    assert.is(outlineOf(await records()).title, 'What is it?')
  })

  it('takes no prompt that a guard refused for a title', async (context) => {
    const { agent, records } = await startAgent(context, {
      replies: ['unheard', 'a', 'b'],
      guards: { input: [({ text }) => (text.includes('1234') ? { refuse: 'no passwords' } : { ok: true })] },
    })
    await agent.prompt('My password is 1234').result
    assert.is(outlineOf(await records()).title, undefined)
    await agent.prompt('Paint the house').result
    await agent.prompt('and the door').result
    const log = await records()
    const decided = log.findIndex(({ type }) => type === 'guard.decided')
    const before = new Folding([outlineFold])
    for (const record of log.slice(0, decided)) before.apply(record)
    assert.is(before.at(outlineFold).state.title, 'My password is 1234')
    const folding = new Folding([outlineFold], JSON.parse(JSON.stringify(before.keep())))
    for (const record of log.slice(decided)) folding.apply(record)
    assert.is(folding.at(outlineFold).state.title, 'Paint the house')
  })

  it('says of a paused run why, of one given up that it was aborted', async (context) => {
    const { agent, records, untilState } = await startAgent(context, {
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), 'found'],
    })
    await agent.prompt('x', { limits: { turns: 1 } }).result
    assert.equal(outlineOf(await records()).last?.reason, { type: 'limit', limit: 'turns', allowed: 1, used: 1 })
    agent.abort()
    await untilState('idle')
    assert.equal(outlineOf(await records()).last?.stopReason, 'aborted')
  })
})

describe('the title of an agent', (it) => {
  const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

  it('is that of the source in a fork, in lists too, and of a handover', async (context) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock: simulatedClock() })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(echo, { id: 'a' })
    await agent.prompt('Paint the house').result
    await forkSession(store, 'a', 2, { id: 'f' })
    await forkSession(store, 'f', 2, { id: 'g' })
    const successor = await agent.handOver(defineAgent({ name: 'other', model: policyModel(() => 'yes') }))
    await successor.prompt('and the door').result
    assert.equal(
      await titlesIn(store),
      ['a.s1', 'a', 'f', 'g'].map((id) => `${id}: Paint the house`),
    )
    assert.is((await loadSession(store, 'g')).title, 'Paint the house')
  })

  it('is its task for a sub-agent, also where it shares the past of its caller', async (context) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock: simulatedClock() })
    context.cleanup(() => runtime.close())
    const worker = defineAgent({ name: 'worker', description: 'works', model: policyModel(() => 'done') })
    const boss = defineAgent({
      name: 'boss',
      agents: [{ definition: worker, context: 'fork' }],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'Paint the door' } }] } : 'fine',
      ),
    })
    await (await runtime.spawn(boss, { id: 'b' })).prompt('Paint the house').result
    assert.equal(await titlesIn(store), ['b.1: Paint the door', 'b: Paint the house'])
    // Live, it has the past of its caller as well.
    assert.is((await loadSession(store, 'b.1')).title, 'Paint the door')
  })

  it('is found in the past of a fork that an older version wrote', async () => {
    const inRun = { v: recordVersion, time: 0, runId: 'a/r0', turnIndex: 0 } as const
    const message = { role: 'user', content: [{ type: 'text', text: 'Old' }], source: 'prompt' } as const
    const source: LogRecord[] = [
      created('a'),
      { ...inRun, seq: 2, type: 'message.added', nodeId: 1, parentId: null, message },
    ]
    const store = await storeOf({ a: source, f: [created('f', { agentId: 'a', seq: 2, at: 1 })] })
    assert.is((await loadSession(store, 'f')).title, 'Old')
    assert.is(outlineOf(await logOf(store, 'f')).title, undefined)
  })
})

import { appendFile, copyFile, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { LogQuery } from '../../../../src/protocol/ports/logPages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { ErasableStore, Store } from '../../../../src/protocol/ports/store.ts'
import { SessionIndex } from '../../src/server/sessionIndex.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const all = (): boolean => true
const none = (): boolean => false

/** Ids of a page of sessions. */
const idsOf = async (index: SessionIndex, query: LogQuery = {}, limit = 100): Promise<readonly string[] | undefined> =>
  index.ids({ query }, { limit })

/** A store that outlives its runtime and counts the records it gives. */
function counting(inner: ErasableStore = memoryStore()) {
  const given = new Map<string, number>()
  const store = {
    append: (agentId: string, records: readonly LogRecord[]) => inner.append(agentId, records),
    list: () => inner.list(),
    stat: (agentId: string) => inner.stat!(agentId),
    open: (agentId: string) => inner.open(agentId),
    delete: (agentId: string) => inner.delete(agentId),
    close: async () => {},
    async *read(agentId: string, fromSeq?: number) {
      for await (const record of inner.read(agentId, fromSeq)) {
        given.set(agentId, (given.get(agentId) ?? 0) + 1)
        yield record
      }
    },
  }
  /** Records read since the last time, by agent. */
  const taken = (): Record<string, number> => {
    const counts = Object.fromEntries(given)
    given.clear()
    return counts
  }
  return { store, taken }
}

/** Agents that have run once each, a minute apart. */
async function filled({ cleanup }: Pick<CaseContext, 'cleanup'>, store: Store, ids: readonly string[]) {
  const clock = simulatedClock()
  const runtime = await createRuntime({ store, clock })
  cleanup(() => runtime.close().catch(() => {}))
  for (const id of ids) {
    await (await runtime.spawn(echo, { id })).prompt('x').result
    await clock.advance(60_000)
  }
  return runtime
}

describe('a list of sessions', (it) => {
  it('reads the logs of its page alone, and those again that changed, from where they ended', async (context) => {
    const { store, taken } = counting()
    const runtime = await filled(context, store, ['a', 'b', 'c'])
    const index = new SessionIndex(store)
    taken()
    assert.equal(await idsOf(index, {}, 2), ['c', 'b'])
    assert.equal(taken(), { c: 1, b: 1 })
    assert.is((await index.summary('c', all))?.runs, 1)
    assert.equal(Object.keys(taken()), ['c'])
    assert.is((await index.summary('c', all))?.runs, 1)
    assert.equal(taken(), {})
    const before = runtime.agent('c')!.lastSeq
    await runtime.agent('c')!.prompt('y').result
    assert.is((await index.summary('c', all))?.runs, 2)
    assert.equal(taken(), { c: runtime.agent('c')!.lastSeq - before })
  })

  it('of a token that reaches nothing reads a record of each log, once', async (context) => {
    const { store, taken } = counting()
    const runtime = await filled(context, store, ['a', 'b', 'c'])
    taken()
    const index = new SessionIndex(store)
    for (let n = 0; n < 5; n += 1) assert.equal(await idsOf(index, { within: ['x'] }), [])
    assert.equal(taken(), { a: 1, b: 1, c: 1 })
    await runtime.agent('a')!.prompt('y').result
    assert.equal(await idsOf(index, { within: ['x'] }), [])
    assert.is(await index.summary('a', none), undefined)
    assert.equal(Object.keys(taken()), ['a'])
  })

  it('looks at the store once for all who ask before it does', async (context) => {
    const { store } = counting()
    await filled(context, store, ['a'])
    let looks = 0
    const watched = { ...store, list: () => ((looks += 1), store.list()) }
    const index = new SessionIndex(watched)
    await Promise.all(Array.from({ length: 100 }, () => idsOf(index)))
    assert.is(looks, 1)
    await idsOf(index)
    assert.is(looks, 2)
  })

  it('reads one log at a time, however many ask', async (context) => {
    const { store } = counting()
    await filled(context, store, ['a', 'b', 'c'])
    let [reading, most] = [0, 0]
    const watched: Store = {
      ...store,
      async *read(agentId, fromSeq) {
        most = Math.max(most, (reading += 1))
        await new Promise((resolve) => setImmediate(resolve))
        yield* store.read(agentId, fromSeq)
        reading -= 1
      },
    }
    const index = new SessionIndex(watched)
    const asked = ['a', 'b', 'c', 'a', 'b', 'c'].map((id) => index.summary(id, all))
    assert.equal(
      (await Promise.all(asked)).map((session) => session?.id),
      ['a', 'b', 'c', 'a', 'b', 'c'],
    )
    assert.is(most, 1)
  })

  it('forgets logs that are gone, and is not taken in by another of the same name', async (context) => {
    const { store } = counting()
    const runtime = await filled(context, store, ['a', 'b'])
    const index = new SessionIndex(store)
    assert.is((await index.summary('a', all))?.id, 'a')
    await runtime.close()
    await store.delete('a')
    assert.equal(await idsOf(index), ['b'])
    assert.is(await index.summary('a', all), undefined)
    await filled(context, store, ['a'])
    assert.is((await index.summary('a', all))?.runs, 1)
  })

  it('of a store that cannot tell how logs stand is as before, within reach', async (context) => {
    const { store, taken } = counting()
    await filled(context, store, ['a', 'b', 'c'])
    const { stat: _, ...plain } = store
    const index = new SessionIndex(plain)
    assert.equal(await idsOf(index), ['c', 'b', 'a'])
    taken()
    assert.equal(await idsOf(index, { ids: ['b'] }), ['b'])
    const { b: own = 0, ...others } = taken()
    assert.ok(own > 1)
    assert.equal(others, {})
    assert.is((await index.summary('b', all))?.runs, 1)
  })

  it('of files is in the order they were written, with those that cannot be read', async (context) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-list-'))
    context.cleanup(() => rm(dir, { recursive: true, force: true }))
    const store = fileStore(dir)
    const runtime = await filled(context, store, ['a', 'b'])
    await runtime.close()
    await copyFile(join(dir, 'a.jsonl'), join(dir, 'c.jsonl'))
    await writeFile(join(dir, 'd.jsonl'), '{"x":1}\n{"x":2}\n{"x":3}\n')
    for (const [at, name] of ['b', 'd', 'a', 'c'].entries()) await utimes(join(dir, `${name}.jsonl`), at, 1_000 + at)
    const index = new SessionIndex(store)
    assert.equal(await idsOf(index), ['c', 'a', 'd', 'b'])
    assert.is((await index.summary('d', all))?.error?.code, 'LOG_CORRUPT')
    assert.equal(await idsOf(index, { definition: 'echo' }), ['c', 'a', 'b'])
    await appendFile(join(dir, 'b.jsonl'), '\n')
    assert.is((await idsOf(index))![0], 'b')
  })

  it('is told to clients by the page, with how many there are', async (context) => {
    const { store, taken } = counting()
    await (await filled(context, store, ['a', 'b', 'c'])).close()
    const tokens = {
      'a-token-for-everything': 'observe',
      'a-token-for-one-agent': { role: 'observe', agents: ['b'] },
    } as const
    const serving = await serveAgents(context, [echo], { tokens, runtime: { store } })
    const broad = serving.connect({ token: 'a-token-for-everything' })
    taken()
    const first = await broad.sessions({ limit: 1 })
    assert.equal([first.total, first.sessions.map(({ agentId }) => agentId)], [3, ['c']])
    assert.equal(Object.keys(taken()), ['c'])
    const next = await broad.sessions({ after: 'c', limit: 2 })
    assert.equal(
      next.sessions.map(({ agentId }) => agentId),
      ['b', 'a'],
    )
    await assert.rejects(broad.sessions({ after: 'nobody' }), /none of them/)
    const narrow = await serving.connect({ token: 'a-token-for-one-agent' }).sessions()
    assert.equal([narrow.total, narrow.sessions.map(({ agentId }) => agentId)], [1, ['b']])
  })
})

describe('a session below an agent that a token reaches', (it) => {
  it('is listed with it', async (context) => {
    const worker = defineAgent({ name: 'worker', description: 'works', model: policyModel(() => 'done') })
    const boss = defineAgent({
      name: 'boss',
      agents: [worker],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'x' } }] } : 'fine',
      ),
    })
    const { store } = counting()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    for (const id of ['mine', 'other']) await (await runtime.spawn(boss, { id })).prompt('go').result
    const tokens = { 'a-token-for-one-agent': { role: 'observe', agents: ['mine'] } } as const
    const serving = await serveAgents(context, [boss], { tokens, runtime: { store: { ...store } } })
    const { sessions } = await serving.connect({ token: 'a-token-for-one-agent' }).sessions()
    assert.is(sessions.length, 2)
    assert.ok(sessions.every(({ agentId, path }) => agentId === 'mine' || path.includes('mine')))
  })
})

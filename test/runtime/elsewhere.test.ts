import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { LogHolder, Store } from '../../src/protocol/ports/store.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { sqliteStore } from '../../packages/sqlite/src/sqliteStore.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { quiet, withCode } from '../support/agentHarness.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const talker = defineAgent({ name: 'talker', model: policyModel(({ messages }) => `answer ${messages.length}`) })

interface Pair {
  readonly here: Runtime
  readonly there: Runtime
  readonly clock: SimulatedClock
}

type MakeStore = (dir: string) => Store

const kinds: { readonly [name: string]: MakeStore } = {
  'SQLite file': (dir) => sqliteStore(join(dir, 'agents.db')),
  folder: (dir) => fileStore(dir),
}

/** Two runtimes, each with a store of its own over the same data. */
async function pair({ cleanup }: Pick<CaseContext, 'cleanup'>, make: MakeStore = kinds['SQLite file']!): Promise<Pair> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-elsewhere-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const clock = simulatedClock()
  const start = async (): Promise<Runtime> => {
    const runtime = await createRuntime({ store: make(dir), clock })
    cleanup(() => runtime.close())
    return runtime
  }
  return { here: await start(), there: await start(), clock }
}

const refusalOf = async (work: Promise<unknown>): Promise<RuntimeError> => {
  const thrown = await work.then(
    () => assert.unreachable('nothing was refused'),
    (error: unknown) => error,
  )
  assert.instance(thrown, RuntimeError)
  return thrown as RuntimeError
}

/** A store in which somebody else has every log, until they are let go of. */
function heldStore(holder: LogHolder | undefined) {
  const seen = { tries: 0, isFree: false }
  const inner = memoryStore()
  const store: Store = {
    ...inner,
    open: async (...given) => {
      seen.tries += 1
      if (!seen.isFree) throw new RuntimeError('STORE_LOCKED', 'Somebody has it.')
      return inner.open(...given)
    },
    holder: async () => holder,
  }
  return { store, seen }
}

for (const [name, make] of Object.entries(kinds))
  describe(`an agent that another process has, in a ${name}`, (it) => {
    it('is refused with who has it and where, to spawn, resume and open alike, until it is let go of', async (context) => {
      const { here, there } = await pair(context, make)
      const server = await here.serve({ definitions: [talker] })
      await here.open('a1', talker)
      for (const attempt of [
        () => there.open('a1', talker),
        () => there.resume('a1', talker),
        () => there.spawn(talker, { id: 'a1' }),
      ]) {
        const { code, message, data } = await refusalOf(attempt())
        assert.is(code, 'AGENT_ELSEWHERE')
        assert.match(message, `process ${process.pid}`)
        assert.not.match(message, /ws:/)
        assert.is(data?.url, server.url)
        assert.is(typeof data?.epoch, name === 'folder' ? 'undefined' : 'number')
      }
      await here.detach('a1')
      assert.is((await (await there.open('a1', talker)).prompt('hello').result).text, 'answer 1')
      assert.is((await refusalOf(here.open('a1', talker))).data?.url, undefined)
    })

    it('is waited for until it is let go of', async (context) => {
      const { here, there, clock } = await pair(context, make)
      await (await here.open('a1', talker)).prompt('hello').result
      const opening = there.open('a1', talker, { wait: 5_000 })
      const told = opening.then(
        () => 'opened',
        () => 'refused',
      )
      await clock.advance(3_000)
      assert.is(await Promise.race([told, quiet().then(() => 'waits')]), 'waits')
      await here.detach('a1')
      while ((await Promise.race([told, quiet().then(() => 'waits')])) === 'waits') await clock.advance(100)
      assert.is((await (await opening).prompt('and now?').result).text, 'answer 3')
    })
  })

describe('opening an agent that another process has', (it) => {
  it('waits no longer than it was told, and then says who has it', async (context) => {
    const { here, there, clock } = await pair(context)
    await here.open('a1', talker)
    const refusal = refusalOf(there.open('a1', talker, { wait: 1_000 }))
    const state = { isOver: false }
    void refusal.then(() => (state.isOver = true))
    await clock.advance(950)
    await quiet()
    assert.is(state.isOver, false)
    while (!state.isOver) await clock.advance(50)
    assert.is((await refusal).code, 'AGENT_ELSEWHERE')
    assert.is(clock.pending, 0)
  })

  it('stops waiting when its signal says so, and when its runtime is closed', async (context) => {
    const { here, there, clock } = await pair(context)
    await here.open('a1', talker)
    const controller = new AbortController()
    const reason = new Error('enough')
    const waiting = there
      .open('a1', talker, { wait: 60_000, signal: controller.signal })
      .catch((thrown: unknown) => thrown)
    await clock.advance(500)
    controller.abort(reason)
    assert.is(await waiting, reason)
    await assert.rejects(there.open('a1', talker, { signal: AbortSignal.abort(reason) }), (thrown) => thrown === reason)
    assert.is(clock.pending, 0)

    const closed = refusalOf(there.open('a1', talker, { wait: 60_000 }))
    await clock.advance(500)
    const state = { isOver: false }
    void closed.then(() => (state.isOver = true))
    await there.close()
    while (!state.isOver) await clock.advance(50)
    assert.is((await closed).code, 'RUNTIME_CLOSED')
    assert.is(clock.pending, 0)
  })

  it('takes it at once with takeOver, also while others wait for it', async (context) => {
    const { here, there } = await pair(context)
    const agent = await here.open('a1', talker)
    await agent.prompt('hello').result
    const taken = await there.open('a1', talker, { takeOver: true, wait: 60_000 })
    assert.is((await taken.prompt('and now?').result).text, 'answer 3')
    assert.is((await agent.prompt('still there?').result).error?.code, 'STORE_LEASE_LOST')
  })

  it('asks the store ever less often, and not without end', async (context) => {
    const clock = simulatedClock()
    const { store, seen } = heldStore({ isHere: false, words: 'somebody', url: 'ws://b/bridge', epoch: 7 })
    const runtime = await createRuntime({ store, clock })
    context.cleanup(() => runtime.close())
    const refusal = refusalOf(runtime.open('a1', talker, { wait: 10_000 }))
    await clock.advance(11_000)
    assert.equal((await refusal).data, { url: 'ws://b/bridge', epoch: 7 })
    assert.ok(seen.tries > 30 && seen.tries < 60, `${seen.tries} tries`)
  })

  it('says what the store says where that does not know who has it, or where it is in the same store', async (context) => {
    for (const holder of [undefined, { isHere: true, words: 'this process' }]) {
      const { store, seen } = heldStore(holder)
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      assert.is((await refusalOf(runtime.open('a1', talker))).code, 'STORE_LOCKED')
      // Who is gone by the time one asks may have let go of it.
      assert.is(seen.tries, holder === undefined ? 4 : 1)
    }
    const store: Store = {
      ...heldStore(undefined).store,
      holder: async () => Promise.reject(new RuntimeError('STORE_READ_FAILED', 'no')),
    }
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    assert.is((await refusalOf(runtime.open('a1', talker))).code, 'STORE_LOCKED')
  })

  it('refuses to wait for something else than a time', async (context) => {
    const { there } = await pair(context)
    for (const wrong of [{ wait: -1 }, { wait: Infinity }, { wait: Number.NaN }, { wait: '5' }, { signal: {} }])
      await assert.rejects(there.open('a1', talker, wrong as object), withCode('INVALID_OPTION', 'open'))
  })
})

import { getEventListeners } from 'node:events'
import type { LogRecord } from '../../src/protocol/records.ts'
import { awaitRequested } from '../../src/runtime/agents/requestedRun.ts'
import { settled } from '../../src/runtime/agents/settled.ts'
import { assert, describe } from '../support/suite.ts'

const next = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('an agent of which one wants to know that it has settled', (it) => {
  /** A loaded agent that waits for people, or else works; `changed` is heard by those who watch it. */
  const loaded = (isWaiting: boolean) => {
    const watchers = new Set<() => void>()
    const calls = [{ callId: 'c', key: 'a/k', name: 'pay', input: {}, status: 'held' }]
    const agent = {
      agentId: 'a',
      isLoaded: true,
      loaded: async () => {},
      machine: {
        state: isWaiting ? 'paused' : 'replying',
        unseen: 0,
        isStopped: false,
        ended: Promise.resolve(null),
        onEnd: () => () => {},
        context: {
          run: {},
          pause: isWaiting ? { type: 'approvals' } : null,
          calls: isWaiting ? calls : [],
          attached: [],
          reporters: [],
        },
      },
      family: {
        live: [],
        listed: [],
        watch(look: () => void) {
          watchers.add(look)
          return () => watchers.delete(look)
        },
      },
      view: { lastSeq: 3, conversation: { lastSeq: 3 } },
      log: { durable: (): Promise<void> | undefined => undefined },
      announcer: { clean: (value: unknown) => value },
    }
    const changed = (): void => {
      for (const look of watchers) look()
    }
    return { agent, changed, watchers }
  }
  /** Its last life is over: what is left of it knows the end of its log alone. */
  const unload = (agent: ReturnType<typeof loaded>['agent'], state: string, isStopped: boolean): void => {
    agent.isLoaded = false
    Object.assign(agent.machine, { state, isStopped })
    agent.view = { lastSeq: 5, conversation: { lastSeq: 0 } }
    agent.log = { durable: () => undefined }
  }

  it('is told by what is kept of an unloaded one where that knows all, else once it is loaded', async () => {
    for (const state of ['idle', 'stopped'])
      for (const unseen of [0, 1])
        for (const isStopped of [false, true]) {
          const { agent } = loaded(true)
          const { machine, view } = agent
          const before = { ...machine }
          unload(agent, state, isStopped)
          machine.unseen = unseen
          let loads = 0
          agent.loaded = async () => {
            loads += 1
            Object.assign(machine, before)
            Object.assign(agent, { isLoaded: true, view })
          }
          const { pending, ...told } = (await settled(agent as never, undefined)) as { pending?: object[] }
          const isKnown = state === 'stopped' || (unseen === 0 && !isStopped)
          const expected =
            state === 'stopped'
              ? { status: 'stopped', seq: 5 }
              : isKnown
                ? { status: 'idle', seq: 5, reporters: [] }
                : { status: 'waiting', seq: 3 }
          assert.equal(told, expected)
          assert.equal([loads, pending?.length], isKnown ? [0, undefined] : [1, 1])
        }
  })

  it('has not stopped where it was only unloaded meanwhile, while it worked or while its log was written', async () => {
    for (const writing of [undefined, 'written', 'failed'] as const)
      for (const [isUnloaded, isStopped, expected] of [
        [false, true, 'stopped'],
        [true, true, 'stopped'],
        [true, false, 'idle'],
      ] as const) {
        const { agent, changed, watchers } = loaded(writing !== undefined)
        const log = Promise.withResolvers<void>()
        if (writing !== undefined) agent.log.durable = () => log.promise
        const { signal } = new AbortController()
        const told = settled(agent as never, signal)
        await next()
        assert.is(watchers.size, writing === undefined ? 1 : 0)
        if (isUnloaded) unload(agent, isStopped ? 'stopped' : 'idle', isStopped)
        else agent.machine.isStopped = true
        if (writing === 'written') log.resolve()
        // An agent whose log cannot be written is not unloaded, and its end is told as it stands.
        if (writing === 'failed') log.reject(new Error('the disk is full'))
        changed()
        const { status, seq } = await told
        const isToldAsItStands = writing === 'failed' && !isUnloaded
        assert.equal([status, seq], [isToldAsItStands ? 'waiting' : expected, isUnloaded ? 5 : 3])
        assert.equal([watchers.size, getEventListeners(signal, 'abort').length], [0, 0])
      }
  })

  it('is not waited for once the signal is aborted, whose listeners are gone then', async () => {
    const never = (): Promise<void> => new Promise(() => {})
    const works = loaded(false).agent
    const writes = loaded(true).agent
    writes.log.durable = never
    const loads = loaded(false).agent
    unload(loads, 'idle', false)
    loads.machine.unseen = 1
    loads.loaded = never
    for (const agent of [works, writes, loads]) {
      const controller = new AbortController()
      const { signal } = controller
      const waiting = settled(agent as never, signal).catch((thrown: unknown) => thrown)
      await next()
      assert.is(getEventListeners(signal, 'abort').length, 1)
      const why = new Error('enough')
      controller.abort(why)
      assert.is(await waiting, why)
      assert.is(getEventListeners(signal, 'abort').length, 0)
      assert.is(await settled(agent as never, signal).catch((thrown: unknown) => thrown), why)
    }
  })
})

describe('the run of a request that nobody goes on with', (it) => {
  const scene = (more: object) => {
    const agent = {
      agentId: 'a',
      view: { definition: { output: null } },
      machine: {
        isStopped: false,
        ended: Promise.resolve(null),
        state: 'idle',
        unseen: 0,
        context: { pause: null, prompts: [] },
        onEnd: () => () => (left += 1),
        ...more,
      },
      announcer: { subscribe: () => () => (left += 1) },
      log: { durable: () => undefined },
    }
    let left = 0
    const records = [{ type: 'run.start', requestId: 'r', runId: 'a/r0', seq: 1 }]
    const result = awaitRequested(
      agent as never,
      (async function* () {
        yield* records as unknown as LogRecord[]
      })(),
      'r',
    )
    return { result, left: () => left }
  }
  const limit = { type: 'limit', limit: 'turns' }
  const store = { type: 'store', error: { code: 'STORE_APPEND_FAILED', message: 'full' } }
  const crash = { code: 'INTERNAL', message: 'a bug' }
  for (const [what, more, expected] of [
    ['was stopped', { isStopped: true }, ['aborted', undefined]],
    ['crashed', { isStopped: true, ended: Promise.resolve(crash) }, ['error', 'INTERNAL']],
    ['is at rest', {}, ['aborted', undefined]],
    ['is paused by a limit', { context: { pause: limit, prompts: [] } }, ['paused', undefined]],
    ['is paused by its store', { context: { pause: store, prompts: [] } }, ['paused', 'STORE_APPEND_FAILED']],
    ['waits for people', { context: { pause: { type: 'approvals' }, prompts: [] } }, undefined],
    ['was told more', { unseen: 1 }, undefined],
    ['has more to begin with', { context: { pause: null, prompts: [{}] } }, undefined],
    ['works', { state: 'replying' }, undefined],
  ] as const)
    it(`is ${expected === undefined ? 'waited for' : expected[0]} where its agent ${what}`, async () => {
      const { result, left } = scene(more)
      const first = await Promise.race([result, next().then(next)])
      assert.equal(first === undefined ? undefined : [first.stopReason, first.error?.code], expected)
      assert.is(left(), expected === undefined ? 0 : 2)
    })
})

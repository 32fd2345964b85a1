import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { Cancellation } from '../../../src/actors/timing/cancellation.ts'
import { waitForName } from '../../../src/actors/tools/waitForTool.ts'
import { defineAgent, policyModel } from '../../../src/index.ts'
import { forkSession } from '../../../src/sessions.ts'
import type { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import type { AgentHost } from '../../../src/runtime/agents/agentHost.ts'
import { StallTimer } from '../../../src/runtime/events/agentTimers.ts'
import { warnOfForgottenApprovals } from '../../runtime/src/forgottenApprovals.ts'
import { checkDetachable, detachHost, rootOf } from '../../../src/runtime/letGo.ts'
import { standingOf } from '../src/logStanding.ts'
import { inOrder, WaitingList, waitingAgent } from '../src/waitingList.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { logOf } from '../../../test/support/lives.ts'
import { sharedStore } from '../../../test/support/sharedStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const next = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('letting go of an agent', (it) => {
  const codeOf = (check: () => void): string | undefined => {
    try {
      check()
    } catch (thrown) {
      return (thrown as RuntimeError).code
    }
    return undefined
  }

  it('is for those that are here, are stored and have no parent', () => {
    const host = (more: object): AgentHost => ({ agentId: 'a', ...more }) as unknown as AgentHost
    assert.is(
      codeOf(() => checkDetachable('a', undefined)),
      'AGENT_NOT_FOUND',
    )
    assert.is(
      codeOf(() => checkDetachable('a', host({}))),
      undefined,
    )
    assert.is(
      codeOf(() => checkDetachable('a', host({ incognito: true }))),
      'AGENT_INCOGNITO',
    )
    assert.is(
      codeOf(() => checkDetachable('a', host({ parent: { agentId: 'p' } }))),
      'INVALID_OPTION',
    )
    const top = { agentId: 'top' }
    assert.is(rootOf({ parent: { parent: top } } as never), top)
  })

  it('closes what has nothing to go on with, and lets go of the rest with all below it, in this order', async () => {
    for (const incognito of [undefined, true])
      for (const isLoaded of [false, true])
        for (const unseen of [0, 2]) {
          const notes: string[] = []
          const slow = (note: string) => async (): Promise<void> => {
            await next()
            notes.push(note)
          }
          const below = { family: { live: [], released: slow('below free') } }
          const host = {
            agentId: 'a',
            incognito,
            isLoaded,
            // An unloaded agent has none.
            family: { live: isLoaded ? [below] : [], released: slow('children free') },
            machine: {
              unseen,
              letGo: ({ code }: { code: string }) => void notes.push(code),
              end: slow('end'),
            },
            async loaded(work: (agent: unknown) => Promise<void>) {
              host.isLoaded = true
              host.family.live = [below]
              await work(host)
            },
          }
          const owner = { release: slow('release'), releaseHost: slow('release host') }
          await detachHost(host as never, owner)
          notes.push('over')
          const isLetGo = incognito === undefined && (isLoaded || unseen > 0)
          const way = isLetGo ? ['AGENT_DETACHED', 'children free', 'below free', 'release'] : ['end', 'release host']
          assert.equal(notes, [...way, 'over'])
        }
  })
})

describe('the time without a sign of life', (it) => {
  it('does not run while the agent, or one below it, waits', async () => {
    const idle = { pause: null, calls: [] as object[] }
    const below = (waitsFor: string | null) => ({
      machine: { context: idle },
      ports: { waitsFor },
      family: { live: [] },
    })
    const waits: { readonly [what: string]: object } = {
      'for people': { machine: { context: { ...idle, pause: { type: 'approvals' } } } },
      'for its turn': { ports: { waitsFor: 'm' } },
      'for reports': { machine: { context: { ...idle, calls: [{ name: waitForName, status: 'running' }] } } },
      below: { family: { live: [below('m')] } },
    }
    const works: { readonly [what: string]: object } = {
      'at nothing': {},
      'at another tool': { machine: { context: { ...idle, calls: [{ name: 'look', status: 'running' }] } } },
      'after a wait': { machine: { context: { ...idle, calls: [{ name: waitForName, status: 'settled' }] } } },
      'with others below': { family: { live: [below(null)] } },
    }
    for (const [isWaiting, cases] of [
      [true, waits],
      [false, works],
    ] as const)
      for (const [what, more] of Object.entries(cases)) {
        const clock = simulatedClock(0)
        const agent = {
          agentId: 'a',
          shared: { clock },
          machine: { context: idle },
          ports: { waitsFor: null },
          parent: undefined,
          family: { live: [] },
          ...more,
        }
        const timer = new StallTimer(agent as never)
        Object.assign(agent, { stallTimer: timer })
        let error: unknown
        const { promise, cancel } = timer.stalled(100, new Cancellation())
        void promise.then((why) => (error = why.code))
        await clock.advance(99)
        assert.is(error, undefined)
        await clock.advance(1)
        await next()
        assert.is(error, isWaiting ? undefined : 'CHILD_STALLED', what)
        cancel()
        assert.is(clock.pending, 0)
      }
  })

  it('begins anew with each sign, of those below too, and ends with the cancellation', async () => {
    const clock = simulatedClock(0)
    const make = (parent?: object) => {
      const agent = {
        agentId: 'a',
        shared: { clock },
        machine: { context: { pause: null, calls: [] } },
        ports: { waitsFor: null },
        parent,
        family: { live: [] },
      }
      return Object.assign(agent, { stallTimer: undefined as unknown as StallTimer })
    }
    const [top] = [make()]
    top.stallTimer = new StallTimer(top as never)
    const below = make(top)
    below.stallTimer = new StallTimer(below as never)
    const cancellation = new Cancellation()
    let stalls = 0
    void top.stallTimer.stalled(100, cancellation).promise.then(() => (stalls += 1))
    for (const at of [top, below, below]) {
      await clock.advance(99)
      at.stallTimer.reset()
    }
    await clock.advance(99)
    await next()
    assert.equal([stalls, clock.pending], [0, 1])
    cancellation.abort()
    assert.is(clock.pending, 0)
    top.stallTimer.stalled(Infinity, cancellation).cancel()
    assert.is(clock.pending, 0)
  })
})

describe('a process that is about to end', (it) => {
  it('is warned of for every open runtime, once, and for none that was closed', () => {
    const warned: string[] = []
    const { emitWarning } = process
    const before = process.listeners('beforeExit')
    const roots = (id: string) => ({
      roots: () => [{ pending: () => [{ kind: 'approval', agentId: id, key: `${id}/k`, name: 'pay' }] }] as never,
    })
    process.emitWarning = (text: string) => void warned.push(/by agent "(\w+)"/.exec(text)![1]!)
    try {
      const [a, b, c] = [roots('a'), roots('b'), roots('c')]
      const ends = [a, b, c].map(warnOfForgottenApprovals)
      const mine = process.listeners('beforeExit').filter((one) => !before.includes(one))
      assert.ok(mine.length <= 1)
      const warn = (mine[0] ?? before.at(-1)) as (code: number) => void
      ends[1]!()
      assert.ok(process.listeners('beforeExit').includes(warn))
      warn(0)
      assert.equal(warned, ['a', 'c'])
      // The warning is work itself: no second one follows.
      assert.not.ok(process.listeners('beforeExit').includes(warn))
      ends[0]!()
      ends[2]!()
      warnOfForgottenApprovals(a)()
      assert.not.ok(process.listeners('beforeExit').includes(warn))
    } finally {
      process.emitWarning = emitWarning
    }
  })
})

describe('what waits for people', (it) => {
  const pending = (askedAt: number | undefined, key: string) =>
    ({ key, ...(askedAt === undefined ? {} : { askedAt }) }) as never
  const at = (agentId: string, ...asked: number[]) =>
    waitingAgent(
      { agentId, definition: 'd', isRunning: false, title: undefined, metadata: undefined },
      asked.map((time, index) => pending(time, `${agentId}${index}`)),
    )

  it('is in the order of its longest wait, then of its ids', () => {
    const list = [at('d', 5), at('b', 3, 9), at('c', 3), at('a', 4, 1), at('e')]
    const ids = (agents: readonly { agentId: string }[]): string => agents.map(({ agentId }) => agentId).join('')
    assert.is(ids(inOrder(list)), 'eabcd')
    assert.is(ids(inOrder(list.toReversed())), 'eabcd')
    assert.equal(
      at('a', 4, 1, 3).pending.map(({ key }) => key),
      ['a1', 'a2', 'a0'],
    )
    assert.equal(['title' in at('a', 1), 'metadata' in at('a', 1)], [false, false])
  })

  it('is read again where a log has changed, and of five thousand logs that have not is not read again', async () => {
    const reads: string[] = []
    const created = (agentId: string) => ({
      v: 1,
      seq: 1,
      time: 0,
      type: 'agent.created',
      agentId,
      definition: 'd',
      path: [],
    })
    let logs = Array.from({ length: 5_000 }, (_, n) => ({ id: `a${n}`, size: 1, writtenAt: 1, origin: undefined }))
    const store = {
      page: async ({ after, limit }: { after?: { id: string }; limit: number }) => {
        const from = after === undefined ? 0 : logs.findIndex(({ id }) => id === after.id) + 1
        return { logs: logs.slice(from, from + limit) }
      },
      async *read(agentId: string) {
        reads.push(agentId)
        yield created(agentId) as never
      },
    } as unknown as Store
    const list = new WaitingList(store, () => undefined)
    const look = async (): Promise<string[]> => {
      reads.length = 0
      for await (const found of list.find({})) assert.unreachable(found.agentId)
      return [...new Set(reads)]
    }
    assert.is((await look()).length, 5_000)
    assert.equal(await look(), [])
    logs = logs.map((log, n) => (n === 7 ? { ...log, size: 2 } : n === 8 ? { ...log, writtenAt: 2 } : log))
    assert.equal(await look(), ['a7', 'a8'])
    logs.push({ id: 'one more', size: 1, writtenAt: 1, origin: undefined })
    await look()
    assert.ok((await look()).length > 0, 'more than five thousand are remembered')
  })
})

describe('a fork', (it) => {
  it('has nothing to do, though messages waited in its source', async ({ cleanup }) => {
    const store = sharedStore(memoryStore())
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const gate = Promise.withResolvers<string>()
    const agent = await runtime.spawn(defineAgent({ name: 'd', model: policyModel(() => gate.promise) }), {
      id: 'source',
    })
    const runs = ['One', 'Two', 'Three'].map((text) => agent.prompt(text))
    await agent.durable()
    gate.resolve('yes')
    for (const run of runs) await run.result
    await agent.durable()
    const { id } = { id: 'fork' }
    await forkSession(store, 'source', 'n2', { id })
    const past = (await logOf(store, 'source')).filter(({ type }) => type === 'queue.changed')
    assert.ok(past.length > 0)
    assert.is((await standingOf(store, id)).standing, 'resting')
  })
})

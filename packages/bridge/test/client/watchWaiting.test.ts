import type { RemoteWaiting } from '../../src/client/answers.ts'
import type { ClientStatus } from '../../src/client/reconnectingLink.ts'
import type { RosterChange } from '../../src/client/remoteRoster.ts'
import { watchWaiting } from '../../src/client/watchWaiting.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const waitingAt = (...ids: readonly string[]): RemoteWaiting =>
  ({ waiting: ids.map((agentId) => ({ agentId })), total: ids.length }) as unknown as RemoteWaiting

/** An agent as a list of what runs tells it. */
type Running = readonly [agentId: string, ...pending: readonly string[]]
const change = (running: readonly Running[], gone: readonly string[] = []): RosterChange =>
  ({
    agents: running.map(([agentId, ...pending]) => (pending.length === 0 ? { agentId } : { agentId, pending })),
    gone,
  }) as unknown as RosterChange

/** Lets what is promised come. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

/** A client whose every question is answered by the case. */
function watched(status: ClientStatus = 'open', options: object = {}) {
  const asked: (PromiseWithResolvers<RemoteWaiting> & { readonly options: object })[] = []
  const [watchers, listeners] = [
    new Set<(change: RosterChange) => unknown>(),
    new Set<(now: ClientStatus) => unknown>(),
  ]
  const [told, failed]: [RemoteWaiting[], unknown[]] = [[], []]
  const into = <T>(all: Set<T>, one: T): (() => void) => {
    all.add(one)
    return () => all.delete(one)
  }
  const client = {
    status,
    waiting: (given: object) => {
      const question = { ...Promise.withResolvers<RemoteWaiting>(), options: given }
      asked.push(question)
      return question.promise
    },
    watch: (listener: (change: RosterChange) => unknown) => into(watchers, listener),
    onStatus: (listener: (now: ClientStatus) => unknown) => into(listeners, listener),
  }
  const end = watchWaiting(client, options, {
    tell: (waiting) => void told.push(waiting),
    failed: (thrown) => void failed.push(thrown),
  })
  return {
    asked,
    told,
    failed,
    end,
    listening: () => [watchers.size, listeners.size],
    changes: (running: readonly Running[], gone: readonly string[] = []) =>
      watchers.forEach((listener) => listener(change(running, gone))),
    becomes: (now: ClientStatus) => listeners.forEach((listener) => listener(now)),
    /** Answers the newest question. */
    async answers(...ids: readonly string[]) {
      asked.at(-1)!.resolve(waitingAt(...ids))
      await settled()
    },
  }
}

describe('what waits, watched', (it) => {
  it('is asked for at once, with the options, unless the client is closed', async () => {
    const options = { limit: 3, metadata: { user: 'anna' } }
    for (const status of ['open', 'connecting'] as const)
      assert.equal(
        watched(status, options).asked.map((question) => question.options),
        [options],
      )
    assert.equal(watched('closed', options).asked, [])
  })

  it('is asked for again whenever the connection is open again, and told when it is something else', async () => {
    const { asked, told, becomes, answers } = watched()
    await answers('a')
    for (const status of ['connecting', 'closed'] as const) becomes(status)
    assert.is(asked.length, 1)
    becomes('open')
    await answers('a')
    becomes('open')
    await answers('a', 'b')
    assert.is(asked.length, 3)
    assert.equal(told, [waitingAt('a'), waitingAt('a', 'b')])
  })

  const changes: readonly {
    readonly title: string
    readonly listed?: readonly string[]
    readonly before?: readonly Running[]
    readonly running?: readonly Running[]
    readonly gone?: readonly string[]
    readonly asks: boolean
  }[] = [
    { title: 'an agent begins to run at which nothing waits', running: [['a']], asks: false },
    { title: 'an agent begins to run that is listed', listed: ['a'], running: [['a']], asks: true },
    { title: 'an agent begins to run at which something waits', running: [['a', 'k1']], asks: true },
    { title: 'something comes to wait', before: [['a']], running: [['a', 'k1']], asks: true },
    { title: 'something else waits', before: [['a', 'k1']], running: [['a', 'k2']], asks: true },
    { title: 'more waits', before: [['a', 'k1']], running: [['a', 'k1', 'k2']], asks: true },
    { title: 'nothing waits any more', before: [['a', 'k1']], running: [['a']], asks: true },
    { title: 'the same waits still', before: [['a', 'k1']], running: [['a', 'k1']], asks: false },
    { title: 'nothing waits still', listed: ['a'], before: [['a']], running: [['a']], asks: false },
    { title: 'an agent ends at which something waited', before: [['a', 'k1']], gone: ['a'], asks: true },
    { title: 'an agent ends at which nothing waited', before: [['a']], gone: ['a'], asks: false },
    { title: 'an agent ends that was not told', gone: ['a'], asks: false },
  ]
  for (const { title, listed = [], before = [], running = [], gone, asks } of changes)
    it(`${asks ? 'is asked for again' : 'is not asked for again'} when ${title}`, async () => {
      const watching = watched()
      await watching.answers()
      watching.changes(before)
      if (watching.asked.length > 1) await watching.answers()
      watching.becomes('open')
      await watching.answers(...listed)
      const count = watching.asked.length
      watching.changes(running, gone)
      assert.is(watching.asked.length - count, asks ? 1 : 0)
    })

  it('is asked for again of an agent that ended and begins again with the same', async () => {
    const { asked, changes: says, answers } = watched()
    await answers()
    says([['a', 'k1']])
    await answers('a')
    says([], ['a'])
    await answers()
    says([['a', 'k1']])
    assert.is(asked.length, 4)
  })

  it('is asked for once at a time, and once more after whatever came meanwhile', async () => {
    const { asked, told, changes: says, answers } = watched()
    // One that begins in this moment may have been decided at before.
    says([['a']])
    says([['a', 'k1']])
    says([['a', 'k2']])
    assert.is(asked.length, 1)
    await answers()
    assert.is(asked.length, 2)
    await answers('a')
    await answers('a')
    assert.is(asked.length, 2)
    assert.equal(told, [waitingAt(), waitingAt('a')])
  })

  it('is asked for again of an agent that begins while it is asked for', async () => {
    const { asked, changes: says, answers } = watched()
    says([['a']])
    await answers()
    assert.is(asked.length, 2)
  })

  it('tells a failure, and goes on', async () => {
    const { asked, told, failed, becomes, answers } = watched()
    becomes('open')
    asked[0]!.reject(new Error('gone'))
    await settled()
    assert.equal(
      failed.map((thrown) => (thrown as Error).message),
      ['gone'],
    )
    assert.is(asked.length, 2)
    await answers('a')
    assert.equal(told, [waitingAt('a')])
  })

  it('is over at its end: nothing is heard, told or asked any more', async () => {
    for (const how of ['resolve', 'reject'] as const) {
      const { asked, told, failed, becomes, listening, end } = watched()
      becomes('open')
      assert.equal(listening(), [1, 1])
      end()
      assert.equal(listening(), [0, 0])
      if (how === 'resolve') asked[0]!.resolve(waitingAt('a'))
      else asked[0]!.reject(new Error('gone'))
      await settled()
      assert.equal([asked.length, told.length, failed.length], [1, 0, 0])
    }
  })
})

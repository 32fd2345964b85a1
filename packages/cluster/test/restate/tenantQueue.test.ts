import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { TenantQueue, type TenantLimits } from '../../src/restate/tenantQueue.ts'
import { WorkerCount } from '../../src/restate/workerCount.ts'

const never = new AbortController().signal

/** A queue whose runs end in the order in which they began; `begun` has the tenants. */
function queueOf(limits: Omit<TenantLimits, 'by'>, workers = () => 1) {
  const queue = new TenantQueue({ by: 'tenant', ...limits }, workers)
  const begun: string[] = []
  const under: (() => void)[] = []
  const ask = (tenant: string): void =>
    void queue.enter({ tenant }, never).then((leave) => {
      begun.push(tenant)
      under.push(leave!)
    })
  const end = async (): Promise<void> => {
    under.shift()?.()
    await quiet()
  }
  return { queue, begun, under, ask, end }
}

const count = (all: readonly string[], one: string): number => all.filter((tenant) => tenant === one).length

describe('the queue of tenants', (it) => {
  it('lets each have its part of what all workers may do, and those beyond it wait in order', async () => {
    const workers = { count: 2 }
    const { queue, begun, ask, end } = queueOf({ runs: 4 }, () => workers.count)
    for (const tenant of ['a', 'a', 'a', 'b']) ask(tenant)
    await quiet()
    assert.equal([begun, queue.length], [['a', 'a', 'b'], 1])
    await end()
    assert.equal(begun, ['a', 'a', 'b', 'a'])
    workers.count = 100
    ask('c')
    ask('c')
    await quiet()
    assert.is(count(begun, 'c'), 1, 'a part is at least one run')
  })

  it('has a tenant that floods wait behind itself: others are served as soon as without it, in turns', async () => {
    /** For each prompt of a tenant that asks one after the other: how many runs of others began before it. */
    const longest = 40
    const waits = async (flood: number): Promise<number[]> => {
      const { begun, ask, end } = queueOf({ runsOfWorker: 2 })
      const found: number[] = []
      for (let round = 0; round < 100; round += 1) {
        for (let asked = 0; asked < flood; asked += 1) ask('flood')
        const before = begun.length
        const own = count(begun, 'victim')
        for (const tenant of ['one', 'two', 'three', 'victim']) ask(tenant)
        await quiet()
        for (let ended = 0; ended < longest && count(begun, 'victim') === own; ended += 1) await end()
        const at = begun.slice(before).indexOf('victim')
        found.push(at < 0 ? longest : at)
      }
      return found.toSorted((one, other) => one - other)
    }
    const alone = await waits(0)
    const flooded = await waits(100)
    const p99 = (all: readonly number[]): number => all[98]!
    assert.ok(p99(flooded) <= 2 * Math.max(1, p99(alone)), `${p99(flooded)} against ${p99(alone)}`)
  })

  it('refuses what is more than may wait, of that tenant alone', async () => {
    const { queue, ask, end } = queueOf({ runs: 1, waiting: 2 })
    for (let asked = 0; asked < 3; asked += 1) ask('a')
    await quiet()
    assert.throws(() => queue.checkRoom({ tenant: 'a' }), withCode('TENANT_LIMIT'))
    queue.checkRoom({ tenant: 'b' })
    queue.checkRoom(undefined)
    await end()
    queue.checkRoom({ tenant: 'a' })
    const none = new TenantQueue({ by: 'tenant', runs: 1, waiting: 0 }, () => 1)
    none.checkRoom(undefined)
    await none.enter(undefined, never)
    assert.throws(() => none.checkRoom(undefined), withCode('TENANT_LIMIT'))
    assert.throws(() => none.checkRoom(undefined), /without "tenant"/)
  })

  it('forgets who gives up, and takes one leave for one', async () => {
    const { queue, begun, under, ask, end } = queueOf({ runsOfWorker: 1 })
    ask('a')
    await quiet()
    const gone = new AbortController()
    const waiting = queue.enter({ tenant: 'b' }, gone.signal)
    ask('c')
    await quiet()
    gone.abort()
    assert.is(await waiting, undefined)
    assert.is(await queue.enter({ tenant: 'b' }, gone.signal), undefined)
    under[0]!()
    await end()
    assert.equal(begun, ['a', 'c'])
    ask('d')
    await quiet()
    assert.equal([begun.length, queue.length], [2, 1])
  })
})

describe('the number of workers', (it) => {
  it('is what the store says, also while it says nothing', async () => {
    const clock = simulatedClock()
    const known = { workers: [1, 2, 3] as readonly number[] | undefined }
    const store = {
      ...memoryStore(),
      workers: async () => {
        if (known.workers === undefined) throw new Error('gone')
        return known.workers.map((one) => ({ url: `ws://${one}`, words: '' }))
      },
    }
    const workers = new WorkerCount(store, clock)
    assert.is(workers.count, 1)
    await quiet()
    assert.is(workers.count, 3)
    known.workers = undefined
    await clock.advance(5_000)
    assert.is(workers.count, 3)
    known.workers = []
    await clock.advance(5_000)
    assert.is(workers.count, 1)
    workers.close()
    assert.is(new WorkerCount(memoryStore(), clock).count, 1)
  })
})

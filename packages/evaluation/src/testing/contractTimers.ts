import { isErasable, type Store } from '../../../../src/protocol/ports/store.ts'
import type { TimerIndex } from '../../../../src/protocol/ports/timers.ts'
import {
  type Checks,
  demand,
  demandEqual,
  demandLog,
  demandRejection,
  openWith,
  type ReopenChecks,
} from './contractDemands.ts'

/** Runs a check on a store with an index of times; passes for one without. */
async function indexing(store: Store, check: (timers: TimerIndex) => Promise<void>): Promise<void> {
  if (store.timers !== undefined) await check(store.timers)
}

/** A time with as many digits as present ones. */
const base = 1_800_000_000_000

async function demandDue(timers: TimerIndex, expected: readonly [string, number][], rule: string): Promise<void> {
  const found = (await timers.due(base + 1_000)).map(({ agentId, due }) => [agentId, due - base])
  demandEqual(found, expected, rule)
}

/** Checks of a store with an index of times. */
export const timers: Checks = {
  'an index of times tells what is due, the earliest first, and no more than it is asked for': (store) =>
    indexing(store, async (index) => {
      await demandDue(index, [], 'a new store has nothing that is due.')
      for (const [id, due] of [
        ['b', 30],
        ['a.b', 30],
        ['a', 20],
        ['late', 1_001],
        ['last', 1_000],
        ['never', null],
      ] as const) {
        await openWith(store, id, 1)
        await index.set(id, due === null ? null : base + due)
      }
      const all: [string, number][] = [
        ['a', 20],
        ['a.b', 30],
        ['b', 30],
        ['last', 1_000],
      ]
      await demandDue(index, all, 'due must give the earliest first, those of one time by id, and none of later.')
      const two = (await index.due(base + 1_000, 2)).map(({ agentId }) => agentId)
      demandEqual(two, ['a', 'a.b'], 'due must give no more than it is asked for, the earliest first.')
      demandEqual(await index.due(base), [], 'nothing is due before its time.')
    }),

  'an agent has one time, which the next one takes the place of, and which null removes': (store) =>
    indexing(store, async (index) => {
      await openWith(store, 'a', 2)
      await openWith(store, 'b', 1)
      await index.set('b', base + 7)
      await Promise.all([5, 3, 900, 4].map((due) => index.set('a', base + due)))
      await demandDue(index, [['a', 4], ['b', 7]], 'the time that was given last counts.') // prettier-ignore
      await index.set('a', base + 9)
      await index.set('a', base + 9)
      await demandDue(index, [['b', 7], ['a', 9]], 'a later time takes the place of an earlier one.') // prettier-ignore
      await index.set('a', null)
      await index.set('a', null)
      await demandDue(index, [['b', 7]], 'null removes the time of one agent.')
      await demandLog(store, 'a', 2, 'the log stays as it is.')
      demandEqual(await store.list(), ['a', 'b'], 'a time is no log.')
    }),

  'only who has the log writes its time': (store) =>
    indexing(store, async (index) => {
      await demandRejection('STORE_NOT_OPEN', () => index.set('a', base), 'an unknown agent has none.')
      const lease = await openWith(store, 'a', 1)
      await index.set('a', base, lease.epoch)
      await lease.release()
      await demandRejection('STORE_NOT_OPEN', () => index.set('a', null), 'a lease that was released gives no right.')
      await demandDue(index, [['a', 0]], 'reading needs no lease, and what is refused changes nothing.')
      const { epoch } = await store.open('a')
      if (epoch === undefined || lease.epoch === undefined) return
      const old = (): Promise<void> => index.set('a', null, lease.epoch)
      await demandRejection('STORE_LEASE_LOST', old, 'an epoch of before must be refused.')
      await demandDue(index, [['a', 0]], 'what is refused changes nothing.')
      await index.set('a', null, epoch)
      await demandDue(index, [], 'who has the log may write.')
    }),

  'a time goes with its log': (store) =>
    indexing(store, async (index) => {
      if (!isErasable(store)) return
      const lease = await openWith(store, 'a', 1)
      await index.set('a', base)
      await lease.release()
      await store.delete('a')
      await demandDue(index, [], 'delete must remove it.')
      await openWith(store, 'a', 1)
      await demandDue(index, [], 'a new log has none of before.')
    }),
}

/** Checks of the times in two stores over the same data. */
export const reopenTimers: ReopenChecks = {
  'another store finds what is due, also once the first is closed': (store, reopen) =>
    indexing(store, async (index) => {
      const lease = await openWith(store, 'a', 1)
      await index.set('a', base)
      await openWith(store, 'b', 1)
      await index.set('b', base + 2)
      const other = await reopen()
      demand(other.timers !== undefined, 'a store of the same kind has an index too.')
      await demandDue(other.timers, [['a', 0], ['b', 2]], 'what one store wrote another one finds.') // prettier-ignore
      const foreign = (): Promise<void> => other.timers!.set('b', null)
      await demandRejection('STORE_NOT_OPEN', foreign, 'who does not have the log must not write its time.')
      await lease.release()
      await other.open('a')
      await other.timers.set('a', base + 5)
      await demandDue(index, [['b', 2], ['a', 5]], 'a time that another store wrote takes the place of the first.') // prettier-ignore
      await store.close()
      await demandDue(other.timers, [['b', 2], ['a', 5]], 'the times must outlive the store.') // prettier-ignore
    }),
}

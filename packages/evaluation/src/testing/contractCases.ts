import type { LogRecord } from '../../../../src/protocol/records.ts'
import { type ErasableStore, type Store, isErasable } from '../../../../src/protocol/ports/store.ts'
import {
  type Checks,
  demand,
  demandEqual,
  demandLog,
  demandRejection,
  openWith,
  owned,
  readAll,
  type ReopenChecks,
  recordsBetween,
} from './contractDemands.ts'
import { checkpoints, reopenCheckpoints } from './contractCheckpoints.ts'
import { holders, reopenHolders } from './contractHolders.ts'
import { pages, reopenPages } from './contractPages.ts'
import { reopenSnapshots, snapshots } from './contractSnapshots.ts'
import { reopenSearching, searching } from './contractSearch.ts'
import { reopenTakeovers, takeovers } from './contractTakeovers.ts'
import { reopenTimers, timers } from './contractTimers.ts'

const appending: Checks = {
  'append gives back what it was given, word for word and in order': async (store) => {
    await openWith(store, 'a', 1)
    await store.append('a', recordsBetween(2, 9))
    await demandLog(store, 'a', 9, 'read must yield the appended records in order, unchanged.')
  },

  'append keeps the order of calls that do not wait for one another': async (store) => {
    await store.open('a')
    let acknowledged = 0
    const calls = Array.from({ length: 300 }, async (_, index) => {
      await store.append('a', recordsBetween(index + 1, index + 1))
      demandEqual(acknowledged, index, 'appends must resolve in the order of calls.')
      acknowledged += 1
    })
    await Promise.all(calls)
    await demandLog(store, 'a', 300, 'the log must keep the order of calls.')
  },

  'append keeps the logs of agents apart': async (store) => {
    const ids = ['a', 'b', 'a.b', 'a-b', 'A_1']
    await Promise.all(ids.map((id) => store.open(id)))
    await Promise.all([1, 2, 3, 4, 5].flatMap((seq) => ids.map((id) => store.append(id, recordsBetween(seq, seq)))))
    for (const id of ids) await demandLog(store, id, 5, 'each agent must have a log of its own.')
  },

  'stat, where there is one, changes with every record, and knows nothing of an agent without a log': async (store) => {
    if (store.stat === undefined) return
    demandEqual(await store.stat('a'), undefined, 'there is nothing to tell of a log that is not there.')
    await store.open('a')
    let before = 0
    for (const seq of [1, 2, 3]) {
      await store.append('a', recordsBetween(seq, seq))
      const { size = 0, writtenAt = Number.NaN } = (await store.stat('a')) ?? {}
      demand(size > before, 'size must grow with every record.')
      demand(Number.isFinite(writtenAt), 'writtenAt must be a time.')
      before = size
    }
  },

  'append answers with a promise, also when it refuses': async (store) => {
    const answers = [() => store.append('a', recordsBetween(1, 1)), () => store.append('b', recordsBetween(1, 1))]
    await store.open('a')
    for (const append of answers) {
      let answer: unknown
      try {
        answer = append()
      } catch {
        demand(false, 'append must reject, not throw.')
      }
      const isPromise = typeof (answer as PromiseLike<void> | undefined)?.then === 'function'
      demand(isPromise, 'append must return a promise: `stored`, when the records are stored already.')
      await Promise.allSettled([answer])
    }
  },

  'append of nothing resolves and adds nothing': async (store) => {
    await store.open('a')
    await store.append('a', [])
    await store.append('a', recordsBetween(1, 1))
    await store.append('a', [])
    await demandLog(store, 'a', 1, 'an empty append must add nothing.')
  },

  'append rejects a gap and keeps nothing of the call': async (store) => {
    await store.open('a')
    const rule = 'a seq that does not follow the last one must be refused.'
    await demandRejection('STORE_APPEND_FAILED', () => store.append('a', recordsBetween(2, 2)), rule)
    await store.append('a', recordsBetween(1, 2))
    await demandRejection('STORE_APPEND_FAILED', () => store.append('a', recordsBetween(4, 5)), rule)
    await store.append('a', recordsBetween(3, 3))
    await demandLog(store, 'a', 3, 'a refused append must leave the log as it was, and usable.')
  },

  'append rejects records out of order within a call': async (store) => {
    await store.open('a')
    const [one, two, three] = [recordsBetween(1, 1), recordsBetween(2, 2), recordsBetween(3, 3)]
    for (const jumbled of [
      [...one, ...three],
      [...two, ...one],
      [...one, ...one],
    ])
      await demandRejection('STORE_APPEND_FAILED', () => store.append('a', jumbled), 'disorder must be refused.')
    await demandLog(store, 'a', 0, 'a refused append must leave the log as it was.')
    await store.append('a', recordsBetween(1, 3))
    await demandRejection('STORE_APPEND_FAILED', () => store.append('a', [...two, ...one]), 'disorder is no repeat.')
  },

  'append takes a full repeat silently and does not write it again': async (store) => {
    await store.open('a')
    const first = store.append('a', recordsBetween(1, 3))
    await Promise.all([first, store.append('a', recordsBetween(1, 3)), store.append('a', recordsBetween(2, 2))])
    await store.append('a', recordsBetween(1, 1))
    await store.append('a', recordsBetween(4, 4))
    await demandLog(store, 'a', 4, 'a repeat must not be written again.')
  },

  'append takes a call that begins with a repeat, and writes only the rest': async (store) => {
    await openWith(store, 'a', 2)
    await store.append('a', recordsBetween(2, 3))
    const under = [store.append('a', recordsBetween(4, 5)), store.append('a', recordsBetween(3, 7))].map(owned)
    await Promise.all([...under, store.append('a', recordsBetween(8, 8))])
    const gap = (): Promise<void> => store.append('a', [...recordsBetween(8, 8), ...recordsBetween(10, 10)])
    await demandRejection('STORE_APPEND_FAILED', gap, 'a repeat must not hide a gap.')
    await demandLog(store, 'a', 8, 'a writer that was not answered may send its records again, with newer ones.')
  },

  'append rejects another record under a seq that is taken, and keeps nothing of the call': async (store) => {
    await openWith(store, 'a', 3)
    const others = (from: number, to: number): LogRecord[] =>
      recordsBetween(from, to).map((record) => (record.seq === 2 ? { ...record, time: 5 } : record))
    const rule = 'a repeat is the same record, not only the same seq.'
    for (const [from, to] of [
      [2, 2],
      [1, 3],
      [2, 4],
    ] as const)
      await demandRejection('STORE_APPEND_FAILED', () => store.append('a', others(from, to)), rule)
    await store.append('a', recordsBetween(4, 4))
    await demandLog(store, 'a', 4, 'a refused append must leave the log as it was, and usable.')
  },
}

const reading: Checks = {
  'read yields nothing for an unknown agent, and list is empty at first': async (store) => {
    demandEqual(await readAll(store, 'nobody'), [], 'an unknown agent has no records.')
    demandEqual(await store.list(), [], 'a new store lists nothing.')
  },

  'read starts at fromSeq': async (store) => {
    await openWith(store, 'a', 5)
    for (const [fromSeq, first] of [
      [0, 1],
      [1, 1],
      [3, 3],
      [5, 5],
      [6, 6],
      [99, 99],
    ] as const) {
      const expected = recordsBetween(first, 5)
      demandEqual(await readAll(store, 'a', fromSeq), expected, `read from ${fromSeq} must start at that seq.`)
    }
    const rule = 'below 0 it counts from the end.'
    demandEqual((await readAll(store, 'a', -2)).slice(-2), recordsBetween(4, 5), rule)
    demandEqual(await readAll(store, 'a', -9), recordsBetween(1, 5), rule)
  },

  'read gives no more than it is asked for': async (store) => {
    await openWith(store, 'a', 5)
    for (const [fromSeq, limit, last] of [
      [1, 2, 2],
      [3, 1, 3],
      [4, 9, 5],
      [6, 1, 5],
      [1, 0, 0],
    ] as const) {
      const expected = recordsBetween(fromSeq, last)
      demandEqual(
        await readAll(store, 'a', fromSeq, limit),
        expected,
        `read of ${limit} from ${fromSeq} must end there.`,
      )
    }
    await store.append('a', recordsBetween(6, 6))
    await demandLog(store, 'a', 6, 'a reader that has enough must not disturb the log.')
  },

  'read shows every record acknowledged before it, and no gap, while others are appended': async (store) => {
    await store.open('a')
    const appends: Promise<void>[] = []
    for (let seq = 1; seq <= 60; seq += 1) {
      appends.push(owned(store.append('a', recordsBetween(seq, seq))))
      if (seq % 10 !== 0) continue
      const acknowledged = seq - 10
      await appends[acknowledged - 1]
      const seen = await readAll(store, 'a')
      demand(
        seen.length >= acknowledged,
        `record ${acknowledged} was acknowledged, but read showed ${seen.length} records.`,
      )
      demandEqual(seen, recordsBetween(1, seen.length), 'read must show a prefix of the log.')
    }
    await Promise.all(appends)
    await demandLog(store, 'a', 60, 'reading must not disturb appending.')
  },

  'read may be left early': async (store) => {
    await openWith(store, 'a', 5)
    for await (const { seq } of store.read('a')) if (seq === 2) break
    await demandLog(store, 'a', 5, 'a reader that stops early must not disturb the log.')
  },

  'list gives the ids of agents with records, sorted': async (store) => {
    for (const id of ['b', 'a10', 'a9', 'Z', 'empty']) await store.open(id)
    for (const id of ['b', 'a10', 'a9', 'Z']) await store.append(id, recordsBetween(1, 1))
    demandEqual(await store.list(), ['Z', 'a10', 'a9', 'b'], 'list must be sorted, without agents that have no record.')
  },
}

const lifetimes: Checks = {
  'append without a lease rejects': async (store) => {
    const append = (): Promise<void> => store.append('a', recordsBetween(1, 1))
    await demandRejection('STORE_NOT_OPEN', append, 'append needs a lease.')
    await (await store.open('a')).release()
    await demandRejection('STORE_NOT_OPEN', append, 'append needs a lease that was not released.')
  },

  'open tells what is there': async (store) => {
    const empty = await store.open('a')
    demandEqual([empty.agentId, empty.lastSeq, empty.repairedBytes], ['a', 0, 0], 'an empty log ends at seq 0.')
    await store.append('a', recordsBetween(1, 7))
    await empty.release()
    const lease = await store.open('a')
    demandEqual([lease.agentId, lease.lastSeq, lease.repairedBytes], ['a', 7, 0], 'lastSeq is the last seq of the log.')
    await store.append('a', recordsBetween(8, 8))
    await demandLog(store, 'a', 8, 'a log goes on where it ended.')
  },

  'open lets one writer in at a time': async (store) => {
    const lease = await store.open('a')
    await demandRejection('STORE_LOCKED', () => store.open('a'), 'a second lease must be refused.')
    await store.open('b')
    await lease.release()
    const next = await store.open('a')
    await lease.release()
    await demandRejection(
      'STORE_LOCKED',
      () => store.open('a'),
      'releasing an old lease again must not free the new one.',
    )
    await next.release()
  },

  'open by many at once lets exactly one in': async (store) => {
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => store.open('a')))
    demandEqual(tries.filter(({ status }) => status === 'fulfilled').length, 1, 'one of ten opens must succeed.')
  },

  'what is asked of one log refuses what is not an agent id': async (store) => {
    for (const id of ['', '.', '..', '../a', 'a/b', 'a\\b', '/etc/passwd', 'a\u0000', 'ä', 'a b', 'x'.repeat(129)]) {
      await demandRejection('INVALID_ID', () => store.open(id), `${JSON.stringify(id)} is no agent id.`)
      await demandRejection('INVALID_ID', () => readAll(store, id), `${JSON.stringify(id)} is no agent id.`)
      const no = `${JSON.stringify(id)} is no agent id.`
      if (store.stat !== undefined) await demandRejection('INVALID_ID', () => store.stat!(id), no)
      if (store.holder !== undefined) await demandRejection('INVALID_ID', () => store.holder!(id), no)
    }
  },

  'release waits for the appends before it and refuses those after it': async (store) => {
    const lease = await store.open('a')
    const appends = [store.append('a', recordsBetween(1, 2)), store.append('a', recordsBetween(3, 3))].map(owned)
    const releasing = owned(lease.release())
    const late = (): Promise<void> => store.append('a', recordsBetween(4, 4))
    await demandRejection('STORE_NOT_OPEN', late, 'append must be refused once release was called.')
    await releasing
    await Promise.all(appends)
    await demandLog(store, 'a', 3, 'release must not lose an append.')
  },

  'close waits for appends, ends every lease, and may be called again': async (store) => {
    await store.open('a')
    await store.open('b')
    const appends = [store.append('a', recordsBetween(1, 2)), store.append('b', recordsBetween(1, 1))].map(owned)
    await Promise.all([store.close(), store.close()])
    await store.close()
    await Promise.all(appends)
    const append = (): Promise<void> => store.append('a', recordsBetween(3, 3))
    await demandRejection('STORE_CLOSED', append, 'append must be refused after close.')
    await demandRejection('STORE_CLOSED', () => store.open('c'), 'open must be refused after close.')
  },

  'a lease may be released after close': async (store) => {
    const lease = await store.open('a')
    await store.close()
    await lease.release()
  },
}

/** Wraps a check of deletion; it passes for a store that cannot delete. */
const erasing =
  (check: (store: ErasableStore) => Promise<void>) =>
  async (store: Store): Promise<void> =>
    isErasable(store) ? check(store) : undefined

const forgetting: Checks = {
  'delete forgets one log and no other, and the id can be used again': erasing(async (store) => {
    for (const id of ['a', 'ab', 'b']) await (await openWith(store, id, 3)).release()
    await store.delete('a')
    demandEqual(await store.list(), ['ab', 'b'], 'list must not name what was deleted, and must name the rest.')
    await demandLog(store, 'a', 0, 'a deleted log must have no records.')
    await demandLog(store, 'ab', 3, 'delete must leave other logs alone.')
    demandEqual((await store.open('a')).lastSeq, 0, 'a deleted log begins anew.')
    await store.append('a', recordsBetween(1, 2))
    await demandLog(store, 'a', 2, 'a deleted id must be usable again.')
  }),

  'delete of an unknown agent does nothing, and what is not an agent id is refused': erasing(async (store) => {
    await store.delete('nobody')
    demandEqual(await store.list(), [], 'deleting nothing must make nothing.')
    await demandRejection('INVALID_ID', () => store.delete('../a'), '"../a" is no agent id.')
  }),

  'delete is refused while the log is open, and after close': erasing(async (store) => {
    const lease = await openWith(store, 'a', 2)
    await demandRejection('STORE_LOCKED', () => store.delete('a'), 'a log that is written must not be deleted.')
    await demandLog(store, 'a', 2, 'a refused delete must leave the log as it was.')
    await store.append('a', recordsBetween(3, 3))
    await lease.release()
    await store.close()
    await demandRejection('STORE_CLOSED', () => store.delete('a'), 'delete must be refused after close.')
  }),
}

/** Checks of a single store, by name. */
export const storeChecks: Checks = {
  ...appending,
  ...reading,
  ...lifetimes,
  ...takeovers,
  ...forgetting,
  ...pages,
  ...checkpoints,
  ...snapshots,
  ...searching,
  ...holders,
  ...timers,
}

/** Checks of two stores over the same data, by name. */
export const reopenChecks: ReopenChecks = {
  ...reopenTakeovers,
  ...reopenPages,
  ...reopenCheckpoints,
  ...reopenSnapshots,
  ...reopenSearching,
  ...reopenHolders,
  ...reopenTimers,
  'a store opened again has every record': async (store, reopen) => {
    for (const id of ['a', 'b']) await openWith(store, id, 6)
    await store.close()
    const again = await reopen()
    demandEqual(await again.list(), ['a', 'b'], 'the agents must survive.')
    await demandLog(again, 'b', 6, 'the records must survive.')
    const lease = await again.open('a')
    demandEqual(lease.lastSeq, 6, 'lastSeq must survive.')
    await again.append('a', recordsBetween(5, 6))
    await again.append('a', recordsBetween(6, 7))
    await demandLog(again, 'a', 7, 'the log must go on where it ended.')
  },

  'a second store cannot open a log that a first one writes, but can read it': async (store, reopen) => {
    const lease = await openWith(store, 'a', 3)
    const other = await reopen()
    await demandRejection('STORE_LOCKED', () => other.open('a'), 'two stores must not write one log.')
    await demandLog(other, 'a', 3, 'reading needs no lease.')
    await lease.release()
    demandEqual((await other.open('a')).lastSeq, 3, 'a released log can be opened elsewhere.')
    await other.append('a', recordsBetween(4, 4))
    await demandLog(store, 'a', 4, 'what another store appends can be read.')
    await demandRejection('STORE_LOCKED', () => store.open('a'), 'the lock must hold the other way round.')
    await other.close()
    demandEqual((await store.open('a')).lastSeq, 4, 'close must release the lease.')
  },

  'a store cannot delete a log that another one writes': async (store, reopen) => {
    const lease = await openWith(store, 'a', 3)
    const other = await reopen()
    if (!isErasable(other)) return
    await demandRejection('STORE_LOCKED', () => other.delete('a'), 'a log that is written must not be deleted.')
    await demandLog(store, 'a', 3, 'a refused delete must leave the log as it was.')
    await lease.release()
    await other.delete('a')
    await demandLog(store, 'a', 0, 'what another store deleted is gone.')
    demandEqual(await store.list(), [], 'what another store deleted is gone.')
  },
}

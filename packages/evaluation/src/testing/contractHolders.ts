import type { LogHolder, Store } from '../../../../src/protocol/ports/store.ts'
import {
  type Checks,
  demand,
  demandEqual,
  demandLog,
  demandRejection,
  openWith,
  recordsBetween,
  type ReopenChecks,
} from './contractDemands.ts'

const url = 'ws://127.0.0.1:4100/bridge'

/** A store that knows the holders of logs. */
type Telling = Store & Required<Pick<Store, 'announce' | 'holder'>>

const telling =
  <Rest extends readonly unknown[]>(check: (store: Telling, ...rest: Rest) => Promise<void>) =>
  async (store: Store, ...rest: Rest): Promise<void> => {
    demandEqual(
      store.announce === undefined,
      store.holder === undefined,
      'a store has both announce and holder, or neither.',
    )
    if (store.holder !== undefined) await check(store as Telling, ...rest)
  }

/** Returns the holder of the log of `a`; throws if there is none. */
async function holderIn(store: Telling): Promise<LogHolder> {
  const holder = await store.holder('a')
  demand(holder !== undefined, 'holder must name who has the log open.')
  demand(holder.words.trim() !== '', 'holder must say in words who it is.')
  return holder
}

/** Checks of a store that reports the holders of logs. */
export const holders: Checks = {
  'holder, where there is one, names who has a log open, and nobody for one that is free': telling(async (store) => {
    demandEqual(await store.holder('a'), undefined, 'nobody has a log that is not there.')
    const lease = await openWith(store, 'a', 2)
    const { isHere, epoch } = await holderIn(store)
    demandEqual([isHere, epoch], [true, lease.epoch], 'the holder is this store, under the epoch of its lease.')
    await lease.release()
    demandEqual(await store.holder('a'), undefined, 'nobody has a log that was released.')
  }),

  'announce says where the agents are reached, of logs opened before and after it, until it is taken back': telling(
    async (store) => {
      await store.open('a')
      demandEqual((await holderIn(store)).url, undefined, 'nothing was announced yet.')
      for (const next of [url, `${url}2`]) {
        await store.announce(next)
        demandEqual((await holderIn(store)).url, next, 'holder must give the address announced last.')
      }
      await store.open('b')
      demandEqual((await store.holder('b'))?.url, `${url}2`, 'it is that of logs opened later, too.')
      if (store.workers !== undefined)
        demandEqual(await urlsOf(store), [`${url}2`], 'workers must give what was announced last.')
      await store.announce(undefined)
      demandEqual((await holderIn(store)).url, undefined, 'an address that was taken back must not be given.')
      demandEqual(await urlsOf(store), [], 'who took its address back is no worker.')
      await store.append('a', recordsBetween(1, 2))
      await demandLog(store, 'a', 2, 'announcing must not disturb the log.')
      await store.close()
      await demandRejection('STORE_CLOSED', () => store.announce(url), 'a closed store says nothing any more.')
    },
  ),
}

const urlsOf = async (store: Telling): Promise<readonly string[]> =>
  ((await store.workers?.()) ?? []).map((worker) => worker.url)

/** Checks of holders between two stores over the same data. */
export const reopenHolders: ReopenChecks = {
  'a store tells that another one has a log, and where it is reached': telling(async (store, reopen) => {
    await store.announce(url)
    const lease = await openWith(store, 'a', 2)
    const other = (await reopen()) as Telling
    const { isHere, epoch, url: seen } = await holderIn(other)
    demandEqual([isHere, epoch, seen], [false, lease.epoch, url], 'the holder is the other store.')
    demandEqual((await holderIn(store)).isHere, true, 'asking must not change who has it.')
    await lease.release()
    demandEqual(await other.holder('a'), undefined, 'nobody has a log that the other store released.')
    await other.announce(`${url}2`)
    await other.open('a')
    const moved = await holderIn(store)
    demandEqual([moved.isHere, moved.url], [false, `${url}2`], 'the holder is whoever opened it last.')
    await other.close()
    demandEqual(await store.holder('a'), undefined, 'nobody has a log of a store that was closed.')
  }),

  'workers, where it is told, are those that announced where they are, whether or not they have a log': telling(
    async (store, reopen) => {
      if (store.workers === undefined) return
      const other = (await reopen()) as Telling
      await store.announce(url)
      await other.announce(`${url}2`)
      for (const one of [store, other])
        demandEqual((await urlsOf(one)).toSorted(), [url, `${url}2`], 'workers must give all of them.')
      await other.close()
      demandEqual(await urlsOf(store), [url], 'a store that was closed is no worker.')
    },
  ),

  'the holder of a log that was taken over is who took it': telling(async (store, reopen) => {
    await store.announce(url)
    const lease = await openWith(store, 'a', 2)
    if (lease.epoch === undefined) return
    const other = (await reopen()) as Telling
    const taken = await other.open('a', { takeOver: true })
    const { isHere, epoch, url: seen } = await holderIn(store)
    demandEqual([isHere, epoch, seen], [false, taken.epoch, undefined], 'the taker has the log now.')
    await lease.release()
    demandEqual((await holderIn(other)).isHere, true, 'releasing what was lost must not free the log.')
  }),
}

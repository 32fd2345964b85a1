import { createHash } from 'node:crypto'
import type { SnapshotStore } from '../../../../src/protocol/ports/snapshots.ts'
import { isErasable, type Store } from '../../../../src/protocol/ports/store.ts'
import { type Checks, demand, demandEqual, demandLog, openWith, type ReopenChecks } from './contractDemands.ts'

/** Content with every byte value, longer than one block. */
const content = Uint8Array.from({ length: 10_000 }, (_, index) => (index * 7) & 255)
const empty = new Uint8Array()
const idOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Runs a check on a store that keeps contents; passes for one that does not. */
async function keeping(store: Store, check: (snapshots: SnapshotStore) => Promise<void>): Promise<void> {
  if (store.snapshots !== undefined) await check(store.snapshots)
}

async function demandKept(kept: SnapshotStore, agentId: string, bytes: Uint8Array, rule: string): Promise<void> {
  const found = await kept.get(agentId, idOf(bytes))
  demandEqual(found && Array.from(found), Array.from(bytes), rule)
}

async function demandNone(kept: SnapshotStore, agentId: string, id: string, rule: string): Promise<void> {
  demand((await kept.get(agentId, id)) === undefined, rule)
}

/** Checks of a store that keeps contents of files, and of results that are too long for a log. */
export const snapshots: Checks = {
  'a content is given back byte for byte, under the digest of its bytes, to its agent alone': (store) =>
    keeping(store, async (kept) => {
      await openWith(store, 'a', 3)
      await openWith(store, 'b', 3)
      for (const bytes of [content, empty]) {
        demandEqual(await kept.put('a', bytes), idOf(bytes), 'put must resolve to the SHA-256 of the bytes.')
        await demandKept(kept, 'a', bytes, 'get must resolve to what was put.')
        demandEqual(await kept.put('a', bytes), idOf(bytes), 'the same bytes may be put again.')
      }
      await demandNone(kept, 'b', idOf(content), 'agents must not share them.')
      await demandNone(kept, 'nobody', idOf(content), 'an unknown agent has none.')
      await demandNone(kept, 'a', idOf(Uint8Array.of(1)), 'what was never put is not there.')
      await demandNone(kept, 'a', '../a', 'what is no digest is not there.')
      await demandLog(store, 'a', 3, 'the log stays as it is.')
      demandEqual(await store.list(), ['a', 'b'], 'a content is no log.')
    }),

  'a content is not shared with whoever put or got it': (store) =>
    keeping(store, async (kept) => {
      await openWith(store, 'a', 3)
      const given = content.slice()
      const putting = kept.put('a', given)
      given.fill(0)
      await putting
      ;(await kept.get('a', idOf(content)))?.fill(0)
      await demandKept(kept, 'a', content, 'changing the bytes later must change nothing.')
    }),

  'contents that are put at once are all kept': (store) =>
    keeping(store, async (kept) => {
      await openWith(store, 'a', 3)
      const all = Array.from({ length: 8 }, (_, index) => content.subarray(index))
      await Promise.all(all.map((bytes) => kept.put('a', bytes)))
      for (const bytes of all) await demandKept(kept, 'a', bytes, 'each of them must be there.')
    }),

  'contents can be read while nobody has the log, and go with it': (store) =>
    keeping(store, async (kept) => {
      const lease = await openWith(store, 'a', 3)
      await kept.put('a', content)
      await lease.release()
      await demandKept(kept, 'a', content, 'reading needs no lease.')
      if (!isErasable(store)) return
      await store.delete('a')
      await demandNone(kept, 'a', idOf(content), 'delete must remove them.')
      await openWith(store, 'a', 2)
      await demandNone(kept, 'a', idOf(content), 'a new log has none of before.')
      await kept.put('a', content)
      await demandKept(kept, 'a', content, 'what was deleted may be put again.')
    }),
}

/** Checks of contents in two stores over the same data. */
export const reopenSnapshots: ReopenChecks = {
  'another store finds a content, also once the first is closed, and puts more': (store, reopen) =>
    keeping(store, async (kept) => {
      await openWith(store, 'a', 3)
      await kept.put('a', content)
      const other = await reopen()
      await demandKept(other.snapshots!, 'a', content, 'another store over the same data must find it.')
      await store.close()
      const again = await reopen()
      await demandKept(again.snapshots!, 'a', content, 'it must survive.')
      await again.open('a')
      await again.snapshots!.put('a', empty)
      await demandKept(other.snapshots!, 'a', empty, 'what another store puts can be read.')
    }),
}

import type { Checkpoint, CheckpointStore } from '../../../../src/protocol/ports/checkpoints.ts'
import { isErasable, type Store } from '../../../../src/protocol/ports/store.ts'
import {
  type Checks,
  demand,
  demandEqual,
  demandLog,
  demandRejection,
  openWith,
  type ReopenChecks,
} from './contractDemands.ts'

/** Returns content with every byte value, longer than one block. */
const bodyOf = (seed: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (index * 7 + seed) & 255)

/** Checkpoint at a record. */
export const checkpointAt = (seq: number, length = 1_000): Checkpoint => ({
  seq,
  form: 'form "1", é',
  digest: `digest of ${seq}`,
  body: bodyOf(seq, length),
})

/** Runs a check on a store that keeps checkpoints; passes for one that does not. */
async function keeping(store: Store, check: (checkpoints: CheckpointStore) => Promise<void>): Promise<void> {
  if (store.checkpoints !== undefined) await check(store.checkpoints)
}

/** Throws unless the store keeps exactly this checkpoint of agent `a`. */
export async function demandKept(
  checkpoints: CheckpointStore,
  expected: Checkpoint | undefined,
  rule: string,
): Promise<void> {
  const found = await checkpoints.read('a')
  demandEqual(shown(found), shown(expected), rule)
}

const shown = (checkpoint: Checkpoint | undefined) => {
  if (checkpoint === undefined) return undefined
  const { seq, form, digest, body, shared } = checkpoint
  return { seq, form, digest, body: Array.from(body), shared: shared && [shared.id, ...shared.body] }
}

/** Checks of a store that keeps checkpoints. */
export const checkpoints: Checks = {
  'a checkpoint is given back byte for byte, and the newest takes the place of the one before': (store) =>
    keeping(store, async (kept) => {
      await demandKept(kept, undefined, 'an unknown agent has none.')
      await openWith(store, 'a', 9)
      await demandKept(kept, undefined, 'a log alone has none.')
      await kept.write('a', checkpointAt(3))
      await demandKept(kept, checkpointAt(3), 'read must resolve to what was written.')
      await kept.write('a', checkpointAt(9, 300_000))
      await demandKept(kept, checkpointAt(9, 300_000), 'a later one takes its place.')
      await kept.write('a', checkpointAt(6, 0))
      await demandKept(kept, checkpointAt(6, 0), 'also where it is shorter, or stands at an earlier record.')
      await demandLog(store, 'a', 9, 'the log stays as it is.')
      demandEqual(await store.list(), ['a'], 'a checkpoint is no log.')
    }),

  'checkpoints that are written at once take turns, and each agent has its own': (store) =>
    keeping(store, async (kept) => {
      await openWith(store, 'a', 3)
      await openWith(store, 'b', 3)
      await Promise.all([
        ...[1, 2, 3].map((seq) => kept.write('a', checkpointAt(seq, 100_000))),
        kept.write('b', checkpointAt(2)),
      ])
      await demandKept(kept, checkpointAt(3, 100_000), 'the last of those that were given is the newest.')
      demandEqual((await kept.read('b'))?.seq, 2, 'agents must not share them.')
    }),

  'what checkpoints share is given back with each of them, until one shares something else': (store) =>
    keeping(store, async (kept) => {
      if (kept.keepsShared !== true) return
      const sharing = (id: string, length: number) => ({ id, body: bodyOf(length, length) })
      const lease = await openWith(store, 'a', 9)
      await openWith(store, 'b', 3)
      await kept.write('b', { ...checkpointAt(3), shared: sharing('of b', 10) })
      const [old, other] = [sharing('id "1", é', 300_000), sharing('2', 70_000)]
      for (const checkpoint of [
        { ...checkpointAt(3), shared: old },
        { ...checkpointAt(4), shared: { ...old } },
        { ...checkpointAt(5, 0), shared: other },
        { ...checkpointAt(5), shared: old },
        checkpointAt(6),
        { ...checkpointAt(7), shared: other },
      ]) {
        await kept.write('a', checkpoint)
        for (const _ of ['once', 'again']) await demandKept(kept, checkpoint, 'read must resolve to what was written.')
      }
      demandEqual((await kept.read('b'))?.shared?.id, 'of b', 'agents must not share them.')
      await lease.release()
      await demandRejection('STORE_NOT_OPEN', () => kept.write('a', { ...checkpointAt(8), shared: old }), 'no lease.')
      const { epoch } = await store.open('a')
      if (epoch !== undefined && lease.epoch !== undefined)
        await demandRejection(
          'STORE_LEASE_LOST',
          () => kept.write('a', { ...checkpointAt(8), shared: old }, lease.epoch),
          'an epoch of before must be refused.',
        )
      await demandKept(kept, { ...checkpointAt(7), shared: other }, 'what is refused changes nothing.')
    }),

  'only who has the log writes its checkpoint': (store) =>
    keeping(store, async (kept) => {
      const write = (epoch?: number): Promise<void> => kept.write('a', checkpointAt(2), epoch)
      await demandRejection('STORE_NOT_OPEN', () => write(), 'an unknown agent has none.')
      const lease = await openWith(store, 'a', 3)
      await kept.write('a', checkpointAt(3), lease.epoch)
      await lease.release()
      await demandRejection('STORE_NOT_OPEN', () => write(), 'a lease that was released gives no right.')
      await demandKept(kept, checkpointAt(3), 'reading needs no lease, and what is refused changes nothing.')
      const { epoch } = await store.open('a')
      if (epoch === undefined || lease.epoch === undefined) return
      await demandRejection('STORE_LEASE_LOST', () => write(lease.epoch), 'an epoch of before must be refused.')
      await demandKept(kept, checkpointAt(3), 'what is refused changes nothing.')
      await write(epoch)
    }),

  'a checkpoint goes with its log': (store) =>
    keeping(store, async (kept) => {
      if (!isErasable(store)) return
      const lease = await openWith(store, 'a', 3)
      const shared = { id: '1', body: bodyOf(1, 10) }
      await kept.write('a', kept.keepsShared === true ? { ...checkpointAt(3), shared } : checkpointAt(3))
      await lease.release()
      await store.delete('a')
      await demandKept(kept, undefined, 'delete must remove it.')
      await openWith(store, 'a', 2)
      await demandKept(kept, undefined, 'a new log has none of before.')
      await kept.write('a', checkpointAt(2))
      await demandKept(kept, checkpointAt(2), 'also nothing that it shared.')
    }),
}

/** Checks of checkpoints in two stores over the same data. */
export const reopenCheckpoints: ReopenChecks = {
  'another store finds a checkpoint, also once the first is closed': (store, reopen) =>
    keeping(store, async (kept) => {
      const lease = await openWith(store, 'a', 3)
      await kept.write('a', checkpointAt(3))
      const other = await reopen()
      demand(other.checkpoints !== undefined, 'a store of the same kind keeps checkpoints too.')
      await demandKept(other.checkpoints, checkpointAt(3), 'reading needs no lease.')
      await demandRejection(
        'STORE_NOT_OPEN',
        () => other.checkpoints!.write('a', checkpointAt(2)),
        'who does not have the log must not write its checkpoint.',
      )
      await lease.release()
      await other.open('a')
      await other.checkpoints.write('a', checkpointAt(2))
      await demandKept(kept, checkpointAt(2), 'what another store wrote is found.')
    }),
}

import { setImmediate as breathe } from 'node:timers/promises'
import { toErrorInfo } from '../../../../src/protocol/errors.ts'
import { isErasable, type Store, type StoreLease } from '../../../../src/protocol/ports/store.ts'
import { checkpointAt, demandKept } from './contractCheckpoints.ts'
import {
  type Checks,
  demand,
  demandEqual,
  demandLog,
  demandRejection,
  openWith,
  owned,
  recordsBetween,
  type ReopenChecks,
} from './contractDemands.ts'

/** A lease that another writer can take over. */
interface Held {
  readonly lease: StoreLease
  readonly epoch: number
}

/** Runs a check on a store with an open log of three records; passes for a store whose leases cannot be taken over. */
async function held(store: Store, check: (held: Held) => Promise<void>): Promise<void> {
  const lease = await openWith(store, 'a', 3)
  if (lease.epoch !== undefined) await check({ lease, epoch: lease.epoch })
}

const append = (store: Store, seq: number, epoch?: number): Promise<void> =>
  store.append('a', recordsBetween(seq, seq), epoch)

/** Throws unless a lost lease can write nothing. The checkpoint comes first, because a refused append may tell the store of the loss. */
async function demandLost(store: Store, seq: number, epoch: number, rule: string): Promise<void> {
  const { checkpoints } = store
  if (checkpoints !== undefined)
    await demandRejection('STORE_LEASE_LOST', () => checkpoints.write('a', checkpointAt(seq), epoch), rule)
  await demandRejection('STORE_LEASE_LOST', () => append(store, seq, epoch), rule)
}

/** Throws unless the checkpoint that is read was written under the lease that holds the log. */
async function demandCheckpoint({ checkpoints }: Store, seq: number): Promise<void> {
  if (checkpoints !== undefined) await demandKept(checkpoints, checkpointAt(seq), 'what is refused must not be kept.')
}

/** Number of event loop turns within which a store has to report a known loss. */
const turns = 20

/** Throws unless the lease reports its loss: a store that has refused a writer, or has let in another one itself, knows that the lease is lost. */
async function demandTold({ lost }: StoreLease): Promise<void> {
  const told = { isLost: false }
  void lost?.then(() => (told.isLost = true))
  for (let turn = 0; turn < turns && !told.isLost; turn += 1) await breathe()
  demand(told.isLost, 'lost must resolve once the store knows that another writer has the log.')
}

/** Checks of leases that another writer can take, in one process. */
export const takeovers: Checks = {
  'an epoch, where there are any, grows with every opening': (store) =>
    held(store, async ({ lease, epoch }) => {
      await lease.release()
      const next = await store.open('a')
      demand((next.epoch ?? 0) > epoch, 'the epoch of a later lease must be greater.')
      await append(store, 4, next.epoch)
      await demandLost(store, 5, epoch, 'who names the epoch of a lease of before must be refused.')
      await demandLog(store, 'a', 4, 'what is refused must not be kept.')
    }),

  'a log that is taken over belongs to the taker, and who had it writes nothing more': (store) =>
    held(store, async ({ lease, epoch }) => {
      await demandRejection('STORE_LOCKED', () => store.open('a'), 'a log is taken only by who says so.')
      const taken = await store.open('a', { takeOver: true })
      demandEqual(taken.lastSeq, 3, 'the taker goes on where the log ends.')
      await demandLost(store, 4, epoch, 'the old writer must be refused.')
      await append(store, 4, taken.epoch)
      await store.checkpoints?.write('a', checkpointAt(4), taken.epoch)
      await demandTold(lease)
      await lease.release()
      await demandRejection('STORE_LOCKED', () => store.open('a'), 'who has lost a log has nothing to let go of.')
      await append(store, 5, taken.epoch)
      await taken.release()
      await demandLost(store, 6, epoch, 'it must be refused for ever.')
      await demandCheckpoint(store, 4)
      await demandLog(store, 'a', 5, 'only the taker may have written.')
    }),

  'a log is taken over again and again': (store) =>
    held(store, async ({ lease }) => {
      const leases = [lease]
      for (let seq = 4; seq <= 8; seq += 1) {
        const taken = await store.open('a', { takeOver: true })
        leases.push(taken)
        await append(store, seq, taken.epoch)
      }
      for (const old of leases.slice(0, -1)) await demandTold(old)
      await demandLog(store, 'a', 8, 'each taker must go on where the one before ended.')
    }),

  'holds, where it is told, is true of the logs that are open, each with the epoch of its lease': async (store) => {
    if (store.holds === undefined) return
    const lease = await openWith(store, 'a', 3)
    demandHeld(store, lease, true, 'it is open.')
    demandEqual(store.holds(), true, 'a store that others respect holds its logs.')
    demandEqual(store.holds('b'), false, 'a log that was never opened is not held.')
    if (lease.epoch !== undefined) {
      demandEqual(store.holds('a', lease.epoch + 1), false, 'a lease is held under its own epoch.')
      const taken = await store.open('a', { takeOver: true })
      demandHeld(store, lease, false, 'it was taken over.', 'epoch')
      demandHeld(store, taken, true, 'it was taken.')
      await lease.release()
      demandHeld(store, taken, true, 'releasing what was lost changes nothing.')
      await taken.release()
      demandHeld(store, taken, false, 'it was released.')
      return
    }
    await lease.release()
    demandHeld(store, lease, false, 'it was released.')
  },
}

/** Checks the answer of `holds` for a lease: by its epoch, and by the agent alone unless there is another lease of the log. */
function demandHeld(
  store: Store,
  { agentId, epoch }: StoreLease,
  expected: boolean,
  why: string,
  by: 'epoch' | 'both' = 'both',
): void {
  demandEqual(store.holds?.(agentId, epoch), expected, `holds must know: ${why}`)
  if (by === 'both') demandEqual(store.holds?.(agentId), expected, `holds must know: ${why}`)
}

/** Checks of leases that can be taken over, between two stores over the same data. */
export const reopenTakeovers: ReopenChecks = {
  'a store takes a log over from another one, which learns of it': (store, reopen) =>
    held(store, async ({ lease, epoch }) => {
      const other = await reopen()
      const taken = await other.open('a', { takeOver: true })
      demandEqual(taken.lastSeq, 3, 'the taker goes on where the log ends.')
      if (other.holds !== undefined) demandHeld(other, taken, true, 'it was taken from another store.')
      await other.append('a', recordsBetween(4, 4), taken.epoch)
      await other.checkpoints?.write('a', checkpointAt(4), taken.epoch)
      await demandLost(store, 4, epoch, 'the old writer must be refused, also with the seq that the taker wrote.')
      await demandLost(store, 5, epoch, 'the old writer must be refused.')
      await demandTold(lease)
      await demandCheckpoint(other, 4)
      await lease.release()
      const third = await reopen()
      await demandRejection('STORE_LOCKED', () => third.open('a'), 'who has lost a log has nothing to let go of.')
      await other.append('a', recordsBetween(5, 5), taken.epoch)
      await demandLog(store, 'a', 5, 'only the taker may have written.')
      await taken.release()
      demandEqual((await store.open('a')).lastSeq, 5, 'what was lost can be opened again once it is free.')
    }),

  'of two stores that open a log at once, one has it, and neither deletes it under the other': async (
    store,
    reopen,
  ) => {
    await (await openWith(store, 'a', 3)).release()
    const other = await reopen()
    const opened = await Promise.allSettled([store.open('a'), other.open('a')])
    const codes = opened.flatMap((end) => (end.status === 'rejected' ? [toErrorInfo(end.reason, 'INTERNAL').code] : []))
    demandEqual(codes, ['STORE_LOCKED'], 'exactly one may get it, and the other must be told why.')
    for (const end of opened) if (end.status === 'fulfilled') await end.value.release()
    if (!isErasable(other)) return
    const [lease, deleted] = await Promise.allSettled([store.open('a'), other.delete('a')])
    if (lease.status === 'rejected') return
    const expected = deleted.status === 'rejected' ? 3 : 0
    demandEqual(lease.value.lastSeq, expected, 'a lease must tell what is there.')
    await demandLog(store, 'a', expected, 'a log that is open must not be deleted.')
  },

  'a log that is let go of right after appends has all of them for whoever opens it next': async (store, reopen) => {
    const lease = await openWith(store, 'a', 3)
    const other = await reopen()
    const appends = Array.from({ length: 30 }, (_, index) => owned(append(store, index + 4, lease.epoch)))
    await lease.release()
    const next = await other.open('a')
    demandEqual(next.lastSeq, 33, 'release must wait for the appends before it.')
    await Promise.all(appends)
    await other.append('a', recordsBetween(34, 34), next.epoch)
    await demandLog(store, 'a', 34, 'the log must go on where it ended.')
  },
}

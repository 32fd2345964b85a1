import { RuntimeError, type ErrorInfo } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { stored, type Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { LogWriter } from '../../src/runtime/agents/log.ts'
import { readAll, recordsBetween } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { quiet, withCode } from '../support/agentHarness.ts'
import { brittleStore } from '../support/brittleStore.ts'
import { pickyStore } from '../support/pickyStore.ts'
import { assert, describe } from '../support/suite.ts'

const owner = (failures: ErrorInfo[] = []) => ({
  agentId: 'a',
  storeFailed: (error: ErrorInfo) => void failures.push(error),
  leaseLost: (error: ErrorInfo) => void failures.push(error),
})

/** Records of which the one of this seq is too large for a `pickyStore(1_000)`. */
const withLarge = (from: number, to: number, large: number): LogRecord[] =>
  recordsBetween(from, to).map((record) =>
    record.seq === large ? ({ ...record, runId: 'x'.repeat(2_000) } as LogRecord) : record,
  )

describe('the writer of a log', (it) => {
  it('writes the records of one tick together, and is done when all are stored', async () => {
    const store = brittleStore()
    await store.open('a')
    const sizes: number[] = []
    store.onAppend = (records) => sizes.push(records.length)
    const writer = new LogWriter(store, owner())
    for (const record of recordsBetween(1, 3)) writer.append(record)
    assert.is(writer.durable() instanceof Promise, true)
    await writer.written()
    assert.is(writer.durable(), undefined)
    assert.equal(sizes, [3])
  })

  it('tells of a failure once, and stands still until it is asked to write again', async () => {
    const store = brittleStore()
    await store.open('a')
    const failures: ErrorInfo[] = []
    const writer = new LogWriter(store, owner(failures))
    store.fail = new Error('full')
    writer.append(recordsBetween(1, 1)[0]!)
    await assert.rejects(writer.durable()!, withCode('STORE_APPEND_FAILED', 'full'))
    store.fail = undefined
    writer.append(recordsBetween(2, 2)[0]!)
    await quiet()
    assert.equal([failures.length, (await readAll(store, 'a')).length], [1, 0])
    await writer.finish()
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
  })

  it('at the end gives up what its store can never take and all that follows it, and nothing before', async () => {
    const store = pickyStore(1_000)
    await store.open('a')
    const writer = new LogWriter(store, owner())
    for (const record of withLarge(1, 5, 3)) writer.append(record)
    await assert.rejects(writer.written(), withCode('RECORD_TOO_LARGE'))
    assert.ok(writer.isStuck)
    await writer.finish()
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
  })

  it('sends nothing any more once another writer has the log, though it is asked to write again', async () => {
    const { store, batches } = await answering(async (sent, keep) => {
      if (sent === 1) throw new RuntimeError('STORE_LEASE_LOST', 'taken')
      return keep()
    })
    const failures: ErrorInfo[] = []
    const writer = new LogWriter(store, owner(failures))
    writer.append(one(1))
    await assert.rejects(writer.durable()!, withCode('STORE_LEASE_LOST'))
    writer.append(one(2))
    await assert.rejects(writer.written(), withCode('STORE_LEASE_LOST'))
    await writer.finish()
    assert.equal([batches, failures.length], [['1'], 1])
  })

  it('at the end rejects when the store fails in another way', async () => {
    const store = brittleStore()
    await store.open('a')
    const writer = new LogWriter(store, owner())
    store.fail = new Error('full')
    writer.append(recordsBetween(1, 1)[0]!)
    await assert.rejects(writer.finish(), withCode('STORE_APPEND_FAILED', 'full'))
    assert.not.ok(writer.isStuck)
  })
})

/** A memory store whose appends answer as told, and what it was sent. */
async function answering(answer: (sent: number, keep: () => Promise<void>) => unknown) {
  const inner = memoryStore()
  await inner.open('a')
  const batches: string[] = []
  const append: Store['append'] = (agentId, records) => {
    batches.push(records.map(({ seq }) => seq).join(' '))
    return answer(batches.length, () => inner.append(agentId, records)) as Promise<void>
  }
  return { store: { ...inner, append } satisfies Store, batches }
}

const one = (seq: number): LogRecord => recordsBetween(seq, seq)[0]!

describe('the writer of a log whose store is done at once', (it) => {
  it('writes what came together as soon as somebody waits, who need not wait', async () => {
    const { store, batches } = await answering((_, keep) => keep())
    const writer = new LogWriter(store, owner())
    for (const record of recordsBetween(1, 3)) writer.append(record)
    assert.is(writer.durable(), undefined)
    writer.append(one(4))
    assert.is(writer.durable(), undefined)
    assert.equal(batches, ['1 2 3', '4'])
    await quiet()
    assert.equal(batches, ['1 2 3', '4'])
  })

  it('writes in the next microtask when nobody waits', async () => {
    const { store, batches } = await answering((_, keep) => keep())
    const writer = new LogWriter(store, owner())
    for (const record of recordsBetween(1, 2)) writer.append(record)
    assert.equal(batches, [])
    await Promise.resolve()
    assert.equal(batches, ['1 2'])
    assert.is(writer.durable(), undefined)
  })

  it('waits for one that a wrapper has made to answer later', async () => {
    const { store, batches } = await answering(async (_, keep) => keep())
    const writer = new LogWriter(store, owner())
    writer.append(one(1))
    const first = writer.durable()
    assert.ok(first instanceof Promise)
    writer.append(one(2))
    writer.append(one(3))
    await first
    await writer.durable()
    assert.equal(batches, ['1', '2 3'])
  })

  it('waits for a batch that is stored later, and not for those before and after it', async () => {
    const { store, batches } = await answering(async (sent, keep) => {
      if (sent === 2) await quiet()
      return keep()
    })
    const slow = store.append
    const mixed: Store = {
      ...store,
      append: (agentId, records) => {
        const answer = slow(agentId, records)
        return batches.length === 2 ? answer : stored
      },
    }
    const writer = new LogWriter(mixed, owner())
    writer.append(one(1))
    assert.is(writer.durable(), undefined)
    writer.append(one(2))
    const second = writer.durable()
    assert.ok(second instanceof Promise)
    writer.append(one(3))
    const third = writer.durable()
    assert.equal(batches, ['1', '2'], 'one append at a time')
    await Promise.all([second, third])
    writer.append(one(4))
    assert.is(writer.durable(), undefined)
    assert.equal(batches, ['1', '2', '3', '4'])
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 4))
  })

  it('sends nothing twice when appending makes new records', async () => {
    const waits: unknown[] = []
    const { store, batches } = await answering((sent, keep) => {
      if (sent === 1) {
        writer.append(one(2))
        waits.push(writer.durable())
      }
      return keep()
    })
    const writer = new LogWriter(store, owner())
    writer.append(one(1))
    assert.is(writer.durable(), undefined)
    assert.ok(waits[0] instanceof Promise)
    await waits[0]
    assert.equal(batches, ['1', '2'])
  })

  it('tells of a failure after whoever waited has been answered, and sends the same again', async () => {
    const failures: ErrorInfo[] = []
    const { store, batches } = await answering((sent, keep) =>
      sent === 1 ? Promise.reject(new Error('full')) : keep(),
    )
    const writer = new LogWriter(store, owner(failures))
    writer.append(one(1))
    const waiting = writer.durable()
    assert.equal(failures, [])
    await assert.rejects(waiting!, withCode('STORE_APPEND_FAILED', 'full'))
    writer.append(one(2))
    await assert.rejects(writer.durable()!, withCode('STORE_APPEND_FAILED', 'full'))
    await writer.written()
    assert.is(writer.durable(), undefined)
    assert.equal(batches, ['1', '1', '2'])
  })
})

describe('the writer of a log whose store breaks its contract', (it) => {
  const breaches: { readonly [what: string]: { answer(): unknown; message: RegExp } } = {
    'answers with nothing': { answer: () => undefined, message: /no promise/ },
    'answers with a number': { answer: () => 3, message: /no promise/ },
    'throws at once': {
      answer: () => {
        throw new Error('not now')
      },
      message: /not now/,
    },
  }
  for (const [what, { answer, message }] of Object.entries(breaches))
    it(`takes one that ${what} for a failure, tells of it afterwards, and goes on when it does better`, async () => {
      const failures: ErrorInfo[] = []
      const { store, batches } = await answering((sent, keep) => (sent === 1 ? answer() : keep()))
      const writer = new LogWriter(store, owner(failures))
      writer.append(one(1))
      const waiting = writer.durable()
      assert.equal(failures, [])
      await assert.rejects(waiting!, withCode('STORE_APPEND_FAILED'))
      assert.match(failures[0]!.message, message)
      await writer.written()
      assert.equal(batches, ['1', '1'])
      assert.equal(await readAll(store, 'a'), recordsBetween(1, 1))
    })

  it('at the end says so too, and does not take it for stored', async () => {
    const inner = pickyStore(1_000)
    await inner.open('a')
    let sent = 0
    const append: Store['append'] = (agentId, records) =>
      (sent += 1) === 2 ? (undefined as unknown as Promise<void>) : inner.append(agentId, records)
    const writer = new LogWriter({ ...inner, append }, owner())
    for (const record of withLarge(1, 3, 3)) writer.append(record)
    await assert.rejects(writer.finish(), withCode('STORE_APPEND_FAILED', 'no promise'))
  })
})

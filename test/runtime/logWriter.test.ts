import type { ErrorInfo } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { LogWriter } from '../../src/runtime/log/logWriter.ts'
import { readAll, recordsBetween } from '../../src/runtime/stores/contractDemands.ts'
import { quiet, withCode } from '../support/agentHarness.ts'
import { brittleStore } from '../support/brittleStore.ts'
import { pickyStore } from '../support/pickyStore.ts'
import { assert, describe } from '../support/suite.ts'

const owner = (failures: ErrorInfo[] = []) => ({
  agentId: 'a',
  storeFailed: (error: ErrorInfo) => void failures.push(error),
})

/** Records of which the one of this seq is too large for a `pickyStore(1_000)`. */
const withLarge = (from: number, to: number, large: number): LogRecord[] =>
  recordsBetween(from, to).map((record) =>
    record.seq === large ? ({ ...record, loopId: 'x'.repeat(2_000) } as LogRecord) : record,
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

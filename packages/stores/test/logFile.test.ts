import { readFile } from 'node:fs/promises'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { bytesOf, openDisk } from './faultyDisk.ts'
import { startStoreChild } from './startStoreChild.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

describe('log file, writing', (it) => {
  it('gathers the calls of one tick, and the calls made during a write, into one write each', async (context) => {
    const file = await openDisk(context)
    const go = file.hold()
    const first = [1, 2, 3].map((seq) => file.log.append(recordsBetween(seq, seq)))
    await Promise.resolve()
    const later = Array.from({ length: 500 }, (_, index) => file.log.append(recordsBetween(index + 4, index + 4)))
    go()
    await Promise.all([...first, ...later])
    assert.is(file.writes, 2)
    assert.is(await file.content(), linesOf(recordsBetween(1, 503)))
    assert.equal([file.log.lastSeq, file.log.size], [503, bytesOf(1, 503)])
  })

  it('gathers calls up to some megabytes into one write, and no more', { timeoutMs: 20_000 }, async (context) => {
    const file = await openDisk(context)
    const text = 'x'.repeat(1024 * 1024)
    const calls = recordsBetween(1, 40).map((record) =>
      file.log.append([{ ...record, runId: text } as unknown as LogRecord]),
    )
    await Promise.all(calls)
    assert.ok(file.writes > 4 && file.writes < 20, `${file.writes} writes of 40 MiB`)
    assert.is(file.log.lastSeq, 40)
  })

  it('gathers the calls of one tick into one write when the file is idle', async (context) => {
    const file = await openDisk(context)
    await Promise.all([1, 2, 3].map((seq) => file.log.append(recordsBetween(seq, seq))))
    assert.is(file.writes, 1)
  })

  it('goes on after a write that took only some of the bytes', async (context) => {
    const file = await openDisk(context)
    file.bite = 7
    await file.log.append(recordsBetween(1, 4))
    assert.is(await file.content(), linesOf(recordsBetween(1, 4)))
  })

  it('does not hand out a record before it is written', async (context) => {
    const file = await openDisk(context)
    const go = file.hold()
    const append = file.log.append(recordsBetween(1, 1))
    await Promise.resolve()
    assert.equal([file.log.lastSeq, file.log.size], [0, 0])
    go()
    await append
    assert.equal([file.log.lastSeq, file.log.size], [1, bytesOf(1, 1)])
  })

  it('acknowledges a repeat of a record in flight only when that is written', async (context) => {
    const file = await openDisk(context)
    const order: string[] = []
    const go = file.hold()
    const first = file.log.append(recordsBetween(1, 1)).then(() => order.push('first'))
    await Promise.resolve()
    const repeat = file.log.append(recordsBetween(1, 1)).then(() => order.push('repeat'))
    go()
    await Promise.all([first, repeat])
    assert.equal(order, ['first', 'repeat'])
    assert.is(file.writes, 1)
  })

  it('holds a repeat against what is in the file, a call alone, and writes the rest of it', async (context) => {
    const file = await openDisk(context)
    const other = { ...recordsBetween(2, 2)[0], time: 5 } as LogRecord
    const outcomes = await Promise.allSettled([
      file.log.append(recordsBetween(1, 3)),
      file.log.append([other]),
      file.log.append(recordsBetween(2, 4)),
      file.log.append(recordsBetween(5, 5)),
    ])
    assert.equal(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    await assert.rejects(
      file.log.append([other, ...recordsBetween(3, 6)]),
      failsWith('STORE_APPEND_FAILED', 'another record under seq 2'),
    )
    await file.log.append(recordsBetween(6, 6))
    assert.is(await file.content(), linesOf(recordsBetween(1, 6)))
  })

  it('refuses a repeat of what is not so alone, and nothing that was appended behind it', async (context) => {
    const file = await openDisk(context)
    await file.log.append(recordsBetween(1, 2))
    const other = { ...recordsBetween(2, 2)[0], time: 5 } as LogRecord
    const outcomes = await Promise.allSettled([file.log.append([other]), file.log.append(recordsBetween(3, 3))])
    assert.equal(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    )
    assert.is(await file.content(), linesOf(recordsBetween(1, 3)))
  })

  it('takes the records as they are at the call', async (context) => {
    const file = await openDisk(context)
    const [record] = recordsBetween(1, 1)
    const mutable = { ...record } as LogRecord
    const append = file.log.append([mutable])
    mutable.time = 5
    await append
    assert.is(await file.content(), linesOf(recordsBetween(1, 1)))
  })

  it('refuses a record that is not JSON, alone', async (context) => {
    const file = await openDisk(context)
    const [one, two, three] = recordsBetween(1, 3)
    const before = file.log.append([one, two] as LogRecord[])
    const bad = file.log.append([{ ...three, input: 10n } as LogRecord])
    const after = file.log.append([three] as LogRecord[])
    await assert.rejects(bad, failsWith('STORE_APPEND_FAILED', 'BigInt'))
    await Promise.all([before, after])
    assert.is(await file.content(), linesOf(recordsBetween(1, 3)))
  })
})

describe('log file, failing disk', (it) => {
  it('cuts a half-written call off, rejects it and all behind it, and works again once there is space', async (context) => {
    const file = await openDisk(context)
    await file.log.append(recordsBetween(1, 2))
    file.space = bytesOf(3, 3) + 10
    const go = file.hold()
    const failing = file.log.append(recordsBetween(3, 5))
    await Promise.resolve()
    const behind = [6, 7].map((seq) => file.log.append(recordsBetween(seq, seq)))
    go()
    const outcomes = await Promise.allSettled([failing, ...behind])
    for (const outcome of outcomes)
      assert.ok(outcome.status === 'rejected' && failsWith('STORE_APPEND_FAILED', 'ENOSPC', '"a"')(outcome.reason))
    assert.is(await file.content(), linesOf(recordsBetween(1, 2)))
    assert.equal([file.log.lastSeq, file.log.size], [2, bytesOf(1, 2)])

    await assert.rejects(file.log.append(recordsBetween(3, 3)), failsWith('STORE_APPEND_FAILED', 'ENOSPC'))
    file.space = Infinity
    await assert.rejects(file.log.append(recordsBetween(8, 8)), failsWith('STORE_APPEND_FAILED', 'seq 3'))
    await file.log.append(recordsBetween(3, 6))
    assert.is(await file.content(), linesOf(recordsBetween(1, 6)))
  })

  it('rejects what waits behind a failed write even when the disk works again at once', async (context) => {
    const file = await openDisk(context)
    const go = file.hold()
    file.failures = 1
    const failing = file.log.append(recordsBetween(1, 1))
    await Promise.resolve()
    const behind = file.log.append(recordsBetween(2, 2))
    go()
    await assert.rejects(failing, failsWith('STORE_APPEND_FAILED', 'EIO'))
    await assert.rejects(behind, failsWith('STORE_APPEND_FAILED', 'EIO'))
    await file.log.append(recordsBetween(1, 2))
    assert.is(await file.content(), linesOf(recordsBetween(1, 2)))
  })

  it('rejects calls made while the failed write is being cut off', async (context) => {
    const file = await openDisk(context)
    file.space = 10
    const failing = file.log.append(recordsBetween(1, 1))
    const late = failing.catch(() => file.log.append(recordsBetween(1, 2)))
    await assert.rejects(failing, failsWith('STORE_APPEND_FAILED'))
    await assert.rejects(late, failsWith('STORE_APPEND_FAILED', 'ENOSPC'))
    assert.is(await file.content(), '')
  })

  it('cuts off before the next write when it could not do so at once', async (context) => {
    const file = await openDisk(context)
    await file.log.append(recordsBetween(1, 1))
    file.space = bytesOf(2, 3) + 20
    file.truncates = false
    await assert.rejects(file.log.append(recordsBetween(2, 4)), failsWith('STORE_APPEND_FAILED', 'ENOSPC'))
    file.space = Infinity
    await assert.rejects(file.log.append(recordsBetween(2, 2)), failsWith('STORE_APPEND_FAILED', 'EIO'))
    file.truncates = true
    await file.log.append(recordsBetween(2, 2))
    assert.is(await file.content(), linesOf(recordsBetween(1, 2)))
  })

  it('cuts off as it closes, so that nobody takes what was refused for records', async (context) => {
    const file = await openDisk(context)
    await file.log.append(recordsBetween(1, 1))
    // The whole of a record that is refused stands in the file.
    file.space = bytesOf(2, 2) + 20
    file.truncates = false
    await assert.rejects(file.log.append(recordsBetween(2, 3)), failsWith('STORE_APPEND_FAILED', 'ENOSPC'))
    assert.ok((await file.content()).length > linesOf(recordsBetween(1, 2)).length)
    file.truncates = true
    await file.log.close()
    assert.is(await file.content(), linesOf(recordsBetween(1, 1)))
  })

  it('does not wait for ever for a file that takes no bytes', async (context) => {
    const file = await openDisk(context)
    file.bite = 0
    await assert.rejects(file.log.append(recordsBetween(1, 1)), failsWith('STORE_APPEND_FAILED', 'no more bytes'))
  })

  it('closes after the writes under way, failed ones included', async (context) => {
    const file = await openDisk(context)
    const append = file.log.append(recordsBetween(1, 1))
    file.space = 0
    const settled = assert.rejects(append, failsWith('STORE_APPEND_FAILED'))
    await file.log.close()
    await settled
  })

  const limited = process.platform === 'win32' ? () => {} : it
  limited('survives a real write cut short by the system', { timeoutMs: 10_000 }, async (context) => {
    const folder = await storeFolder(context)
    // At most 8 or 16 KiB, as the shell counts.
    const child = await startStoreChild(folder.dir, context, { limitBlocks: 16 })
    await child.ask({ do: 'open', ids: ['a'] })
    assert.equal(await child.ask({ do: 'append', id: 'a', from: 1, to: 3 }), { ok: null })
    const { code, message } = await child.ask({ do: 'append', id: 'a', from: 4, to: 400 })
    assert.is(code, 'STORE_APPEND_FAILED')
    assert.match(message ?? '', /EFBIG/)
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), linesOf(recordsBetween(1, 3)))
    assert.equal(await child.ask({ do: 'append', id: 'a', from: 4, to: 5 }), { ok: null })
    await child.end()
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), linesOf(recordsBetween(1, 5)))
  })
})

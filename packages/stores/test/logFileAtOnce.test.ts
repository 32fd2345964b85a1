import type { LogRecord } from '../../../src/protocol/records.ts'
import { stored } from '../../../src/protocol/ports/store.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { bytesOf, openDisk } from './faultyDisk.ts'
import { failsWith, linesOf } from './storeFolder.ts'

/** A record whose line is about so long. */
const longRecord = (seq: number, text: string): LogRecord =>
  ({ ...recordsBetween(seq, seq)[0]!, runId: text }) as LogRecord

describe('log file, writing at once', (it) => {
  it('has a short append stored as it returns', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    assert.is(file.log.append(recordsBetween(1, 3)), stored)
    assert.is(file.contentNow(), linesOf(recordsBetween(1, 3)))
    assert.equal([file.log.lastSeq, file.log.size], [3, bytesOf(1, 3)])
    assert.is(file.log.append([]), stored)
    assert.is(file.log.append(recordsBetween(4, 4)), stored)
    assert.is(file.contentNow(), linesOf(recordsBetween(1, 4)))
  })

  it('does not overtake what is written in the background', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    const long = longRecord(1, 'x'.repeat(100_000))
    const appends = [file.log.append([long])]
    for (const [record] of [recordsBetween(2, 2), recordsBetween(3, 3)]) appends.push(file.log.append([record!]))
    for (const append of appends) assert.is.not(append, stored)
    await Promise.all(appends)
    await file.log.append(recordsBetween(4, 4))
    assert.is(await file.content(), linesOf([long, ...recordsBetween(2, 4)]))
    assert.is(file.writesAtOnce, 1)
  })

  for (const [what, character, count] of [
    ['ASCII', 'x', 65_000],
    ['three bytes a character', '漢', 21_000],
    ['four', '🙂', 15_000],
  ] as const)
    it(`takes up to 64 KiB for short, of ${what}`, async (context) => {
      const file = await openDisk(context, { atOnce: true })
      const records = [1, 2].map((seq) => longRecord(seq, character.repeat(seq === 1 ? count : count * 1.1)))
      for (const record of records) await file.log.append([record])
      assert.is(await file.content(), linesOf(records))
      assert.equal([file.writes, file.writesAtOnce], [2, 1])
    })

  it('holds a repeat against the file, and is quick again after it', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    await file.log.append(recordsBetween(1, 2))
    const other = { ...recordsBetween(2, 2)[0], time: 5 } as LogRecord
    await assert.rejects(file.log.append([other]), failsWith('STORE_APPEND_FAILED', 'another record under seq 2'))
    const repeat = file.log.append(recordsBetween(2, 3))
    assert.is.not(repeat, stored)
    await repeat
    await file.log.append(recordsBetween(1, 1))
    assert.is(file.log.append(recordsBetween(4, 4)), stored)
    assert.is(await file.content(), linesOf(recordsBetween(1, 4)))
  })

  it('cuts off what only a part was taken of, and writes it again in the background', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    await file.log.append(recordsBetween(1, 1))
    file.bite = 50
    const append = file.log.append(recordsBetween(2, 3))
    assert.is.not(append, stored)
    assert.equal([file.log.lastSeq, file.log.size], [1, bytesOf(1, 1)])
    await append
    file.bite = Infinity
    assert.is(file.log.append(recordsBetween(4, 4)), stored)
    assert.is(await file.content(), linesOf(recordsBetween(1, 4)))
  })

  it('fails as in the background when the disk is full, and works again once there is space', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    await file.log.append(recordsBetween(1, 2))
    file.space = 10
    const failing = file.log.append(recordsBetween(3, 3))
    const behind = file.log.append(recordsBetween(4, 4))
    const outcomes = await Promise.allSettled([failing, behind])
    for (const outcome of outcomes)
      assert.ok(outcome.status === 'rejected' && failsWith('STORE_APPEND_FAILED', 'ENOSPC', '"a"')(outcome.reason))
    assert.is(await file.content(), linesOf(recordsBetween(1, 2)))
    file.space = Infinity
    assert.is(file.log.append(recordsBetween(3, 4)), stored)
    assert.is(await file.content(), linesOf(recordsBetween(1, 4)))
  })

  it('writes nothing behind what it could not cut off', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    await file.log.append(recordsBetween(1, 1))
    file.space = 10
    file.truncates = false
    await assert.rejects(file.log.append(recordsBetween(2, 2)), failsWith('STORE_APPEND_FAILED'))
    file.space = Infinity
    await assert.rejects(file.log.append(recordsBetween(2, 2)), failsWith('STORE_APPEND_FAILED', 'ftruncate'))
    file.truncates = true
    await file.log.append(recordsBetween(2, 2))
    assert.is(await file.content(), linesOf(recordsBetween(1, 2)))
  })

  it('leaves the writes after a slow one to the background, for a while', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    const append = (): Promise<void> => file.log.append(recordsBetween(file.log.lastSeq + 1, file.log.lastSeq + 1))
    file.slowness = 4
    for (let count = 0; count < 10; count += 1) assert.is(append(), stored)
    file.slowness = 5
    assert.is(append(), stored, 'it is stored, however long that took')
    for (let count = 0; count < 1_000; count += 1) await append()
    assert.ok(file.writesAtOnce - 11 <= 10, `${file.writesAtOnce - 11} of 1,000 writes held the process up`)
    file.slowness = 0
    for (let count = 0; count < 1_000; count += 1) await append()
    assert.is(append(), stored)
    assert.is(await file.content(), linesOf(recordsBetween(1, file.log.lastSeq)))
  })

  it('is over once the log is being closed', async (context) => {
    const file = await openDisk(context, { atOnce: true })
    await file.log.append(recordsBetween(1, 1))
    const closed = file.log.close()
    const late = file.log.append(recordsBetween(2, 2))
    assert.is.not(late, stored)
    await Promise.all([closed, late])
    assert.is(await file.content(), linesOf(recordsBetween(1, 2)))
  })
})

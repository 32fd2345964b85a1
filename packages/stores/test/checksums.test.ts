import { someRuns } from '../../../test/support/seeds.ts'
import { readFile } from 'node:fs/promises'
import * as fc from 'fast-check'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { checksumOf, lineOf } from '../src/checksum.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { readRecord } from '../src/readRecord.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

const place = { file: 'a.jsonl', line: 1 }
const plainLinesOf = (records: readonly LogRecord[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** Records that reading yields before it ends or fails, and the failure. */
async function readUntilFailure(store: Store): Promise<{ records: LogRecord[]; failure: unknown }> {
  const records: LogRecord[] = []
  try {
    for await (const record of store.read('a')) records.push(record)
    return { records, failure: undefined }
  } catch (failure) {
    return { records, failure }
  }
}

const codeOf = (thrown: unknown): string =>
  thrown instanceof RuntimeError ? thrown.code : `untyped: ${String(thrown)}`

describe('checksums', (it) => {
  it('stand last on a line that is still one JSON object, and are gone from the record', () => {
    // The sum is from another implementation (zlib's, called from Python).
    assert.is(lineOf('{"n":"123456789"}'), '{"n":"123456789","crc":"fda6722d"}')
    for (const record of recordsBetween(1, 3)) {
      const line = lineOf(JSON.stringify(record))
      const { crc, ...rest }: { crc: string } = JSON.parse(line)
      assert.match(crc, /^[0-9a-f]{8}$/)
      assert.equal(rest, record)
      assert.equal(Object.keys(JSON.parse(line) as object).at(-1), 'crc')
      assert.equal(readRecord(line, place), record)
    }
  })

  it('are not taken from the end of what a record holds', () => {
    const [, , record] = recordsBetween(1, 3)
    const held = { ...record, input: { path: 'x', crc: '00000000' } }
    assert.is(checksumOf(JSON.stringify(held)), undefined)
    assert.equal(readRecord(JSON.stringify(held), place), held)
    assert.equal(readRecord(lineOf(JSON.stringify(held)), place), held)
  })

  it('may be missing: a log of an older version is read, and goes on with them', async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    await folder.write('a.jsonl', plainLinesOf(recordsBetween(1, 3)))
    assert.equal((await store.open('a')).lastSeq, 3)
    await store.append('a', recordsBetween(4, 6))
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 6))
    const content = await readFile(folder.file('a.jsonl'), 'utf8')
    assert.is(content, plainLinesOf(recordsBetween(1, 3)) + linesOf(recordsBetween(4, 6)))
  })

  it('that are wrong in the middle are refused, naming file, line, and both sums', async (context) => {
    const folder = await storeFolder(context)
    const lines = linesOf(recordsBetween(1, 4)).split('\n')
    const before = checksumOf(lines[1] ?? '')
    lines[1] = (lines[1] ?? '').replace('"time":1700000000002', '"time":1700000000003')
    const seen = checksumOf(lines[1])?.seen ?? 'none'
    await folder.write('a.jsonl', lines.join('\n'))
    const refusal = failsWith('LOG_CORRUPT', folder.file('a.jsonl'), 'Line 2 ', before?.expected ?? 'none', seen)
    await assert.rejects(readAll(folder.store(), 'a'), refusal)
    assert.is.not(before?.expected, seen)
  })

  it('that are wrong in the last line are repaired like a torn line, and reported', async (context) => {
    const folder = await storeFolder(context)
    const good = linesOf(recordsBetween(1, 3))
    const bad = linesOf(recordsBetween(4, 4)).replace('"turnIndex":4', '"turnIndex":5')
    await folder.write('a.jsonl', good + bad)
    assert.equal(await readAll(folder.store(), 'a'), recordsBetween(1, 3))
    const lease = await folder.store().open('a')
    assert.equal([lease.lastSeq, lease.repairedBytes], [3, bad.length])
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), good)
  })

  it('find any one flipped bit of a line, those of the checksum and its name included', () => {
    const bytes = Buffer.from(linesOf(recordsBetween(2, 2)).trimEnd())
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      const read = readRecord(flipped.toString('utf8'), place)
      assert.is(codeOf(read), 'LOG_CORRUPT', `bit ${bit}: ${flipped.toString('utf8')}`)
    }
  })

  it('find random changes of bytes anywhere in a log', { timeoutMs: 30_000 }, async (context) => {
    const folder = await storeFolder(context)
    const records = recordsBetween(1, 9)
    const whole = Buffer.from(linesOf(records))
    const change = fc.record({ at: fc.nat(whole.length - 1), by: fc.integer({ min: 1, max: 255 }) })
    const changes = fc.uniqueArray(change, { minLength: 1, maxLength: 3, selector: ({ at }) => at })
    const property = fc.asyncProperty(changes, async (flips) => {
      const damaged = Buffer.from(whole)
      for (const { at, by } of flips) damaged.writeUInt8(damaged.readUInt8(at) ^ by, at)
      await folder.write('a.jsonl', damaged)
      const store = folder.store()
      const { records: seen, failure } = await readUntilFailure(store)
      assert.equal(seen, records.slice(0, seen.length))
      assert.ok(seen.length < records.length, 'the change was not found')
      const firstAt = Math.min(...flips.map(({ at }) => at))
      const line = whole.subarray(0, firstAt).toString('latin1').split('\n').length
      assert.ok(seen.length < line, `a changed line ${line} was taken for a record`)
      if (failure === undefined) {
        const lease = await store.open('a')
        assert.equal([lease.lastSeq, lease.repairedBytes > 0], [seen.length, true])
      } else
        assert.ok(failsWith('LOG_CORRUPT', `Line ${line} of ${folder.file('a.jsonl')}`)(failure), messageOf(failure))
      await store.close()
    })
    await fc.assert(property, { numRuns: someRuns(300), seed: 20_260_102 })
  })
})

describe('the log reader, given anything', (it) => {
  const legalCodes = ['LOG_CORRUPT', 'LOG_VERSION']

  it('throws typed errors only', { timeoutMs: 30_000 }, async (context) => {
    const folder = await storeFolder(context)
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((json) => Buffer.from(`${json}\n`)),
      fc.json().map((json) => Buffer.from(`${lineOf(json)}\n`)),
      fc.constantFrom('\n', '{"v":3}\n', '{"v":1}\n', linesOf(recordsBetween(1, 1))).map((text) => Buffer.from(text)),
    )
    const property = fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      await folder.write('a.jsonl', Buffer.concat(pieces))
      const store = folder.store()
      const { failure } = await readUntilFailure(store)
      if (failure !== undefined) assert.ok(legalCodes.includes(codeOf(failure)), codeOf(failure))
      const opened = await store.open('a').catch((thrown: unknown) => thrown)
      if (opened instanceof Error) assert.ok(legalCodes.includes(codeOf(opened)), codeOf(opened))
      await store.close()
    })
    await fc.assert(property, { numRuns: someRuns(400), seed: 20_260_103 })
  })

  it('gives a record or a typed error for any text', { timeoutMs: 10_000 }, () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.json().map(lineOf))
    const property = fc.property(text, (line) => {
      const read = readRecord(line, place)
      if (read instanceof Error) assert.ok(legalCodes.includes(codeOf(read)), codeOf(read))
    })
    fc.assert(property, { numRuns: someRuns(2_000), seed: 20_260_104 })
  })
})

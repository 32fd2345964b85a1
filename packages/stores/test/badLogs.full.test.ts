import { chmod, mkdir, open, readdir, readFile } from 'node:fs/promises'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { recordVersion } from '../../../src/protocol/records.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { lineOf } from '../src/checksum.ts'
import { fileStore } from '../src/fileStore.ts'
import { maxLineBytes, readLines } from '../src/jsonLines.ts'
import { repairLog } from '../src/repairLog.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { failsWith, linesOf, storeFolder, type StoreFolder } from './storeFolder.ts'

const definition = defineAgent({ name: 'worker', model: scriptedModel(['done']) })
/** More than a string of V8 can hold, and than a process may. */
const hugeBytes = 640 * 2 ** 20
const mostHeldBytes = 512 * 2 ** 20
const good = linesOf(recordsBetween(1, 3))
const goodBytes = Buffer.byteLength(good)

const runtimeOn = async ({ dir }: StoreFolder, { cleanup }: CaseContext) => {
  const runtime = await createRuntime({ store: fileStore(dir) })
  cleanup(() => runtime.close())
  return runtime
}

describe('an agent whose log is not there or not its own', (it) => {
  it('is not resumed: unknown, an empty file, a torn first record', async (context) => {
    const folder = await storeFolder(context)
    const runtime = await runtimeOn(folder, context)
    await folder.write('empty.jsonl', '')
    await folder.write('torn.jsonl', linesOf(recordsBetween(1, 1)).slice(0, 40))
    for (const id of ['unknown', 'empty', 'torn']) {
      await assert.rejects(runtime.resume(id, definition), failsWith('AGENT_NOT_FOUND', `"${id}"`))
      assert.equal(await readAll(folder.store(), id), [])
    }
    const agent = await runtime.spawn(definition, { id: 'empty' })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(await folder.store().list(), ['empty'])
  })

  it('is not resumed when its log begins with something else than its birth', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.jsonl', good)
    const runtime = await runtimeOn(folder, context)
    await assert.rejects(runtime.resume('a', definition), failsWith('LOG_CORRUPT', '"a"'))
  })

  it('is refused when a newer version wrote it, and its log is left alone', async (context) => {
    const folder = await storeFolder(context)
    const newer = `${lineOf(JSON.stringify({ v: recordVersion + 1, seq: 2, type: 'agent.dreamt' }))}\n`
    const content = linesOf(recordsBetween(1, 1)) + newer
    await folder.write('a.jsonl', content)
    const runtime = await runtimeOn(folder, context)
    const refusal = failsWith('LOG_VERSION', 'Line 2 ', folder.file('a.jsonl'), recordVersion + 1)
    await assert.rejects(runtime.resume('a', definition), refusal)
    await assert.rejects(runtime.spawn(definition, { id: 'a' }), refusal)
    await assert.rejects(repairLog(folder.file('a.jsonl')), refusal)
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), content)
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })

  it('has no path in its id, wherever it is given', async (context) => {
    const folder = await storeFolder(context)
    await mkdir(folder.file('in'))
    await folder.write('out.jsonl', good)
    const store = fileStore(folder.file('in'))
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const ids = [
      '../out',
      '..',
      '.',
      '',
      '/etc/passwd',
      'a/b',
      'a\\b',
      '.hidden',
      'a\0b',
      'a\n',
      'ü',
      ' ',
      'x'.repeat(129),
    ]
    for (const id of ids) {
      const isRefused = failsWith('INVALID_ID', JSON.stringify(id).slice(0, 60))
      await assert.rejects(store.open(id), isRefused)
      await assert.rejects(readAll(store, id), isRefused)
      await assert.rejects(runtime.resume(id, definition), isRefused)
      await assert.rejects(runtime.spawn(definition, { id }), isRefused)
    }
    assert.equal([await readdir(folder.dir), await readdir(folder.file('in'))], [['in', 'out.jsonl'], []])
  })
})

describe('a log in the wrong place', (it) => {
  it('that is a folder is refused by everything, and stays', async (context) => {
    const folder = await storeFolder(context)
    await mkdir(folder.file('a.jsonl'))
    const runtime = await runtimeOn(folder, context)
    const place = folder.file('a.jsonl')
    await assert.rejects(runtime.resume('a', definition), failsWith('STORE_OPEN_FAILED', place))
    await assert.rejects(runtime.spawn(definition, { id: 'a' }), failsWith('STORE_OPEN_FAILED', place))
    await assert.rejects(readAll(folder.store(), 'a'), failsWith('STORE_READ_FAILED', place))
    await assert.rejects(repairLog(place), failsWith('STORE_OPEN_FAILED', place))
    assert.equal(await folder.store().list(), [])
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })

  it('that may only be read is read, and not opened', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.jsonl', good)
    await chmod(folder.dir, 0o555)
    context.cleanup(() => chmod(folder.dir, 0o755))
    leaveRoot(context)
    const store = folder.store()
    await assert.rejects(store.open('a'), failsWith('STORE_OPEN_FAILED', folder.file('a.jsonl')))
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 3))
    await assert.rejects(repairLog(folder.file('a.jsonl')), failsWith('STORE_OPEN_FAILED', folder.file('a.jsonl')))
    await assert.rejects(fileStore(folder.file('new')).open('a'), failsWith('STORE_OPEN_FAILED', folder.file('new')))
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })
})

const nobody = 65_534

/** Root may write everywhere: until the case is over this process is nobody. */
function leaveRoot({ cleanup }: CaseContext): void {
  if (process.geteuid?.() !== 0) return
  process.seteuid?.(nobody)
  cleanup(() => process.seteuid?.(0))
}

/** Puts a long line at the end of a file, by a hole; gives the file's size. */
async function addHugeLine(file: string, isFinished: boolean, length = hugeBytes): Promise<number> {
  const handle = await open(file, 'r+')
  try {
    const { size } = await handle.stat()
    await handle.write('{"v":3,"seq":4,"input":"', size)
    if (isFinished) await handle.write('"}\n', size + length)
    else await handle.truncate(size + length)
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}

describe('a line of hundreds of megabytes', (it) => {
  const patient = { timeoutMs: 60_000 }

  /** Most bytes the process has held, sampled while `work` ran. */
  async function peakOf(work: () => Promise<void>): Promise<number> {
    const before = process.memoryUsage().rss
    let peak = 0
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss - before)), 5)
    await work().finally(() => clearInterval(timer))
    return peak
  }

  it('is cut off as a torn tail, finished or not, without being held', patient, async (context) => {
    for (const isFinished of [false, true]) {
      const folder = await storeFolder(context)
      await folder.write('a.jsonl', good)
      const size = await addHugeLine(folder.file('a.jsonl'), isFinished)
      const peak = await peakOf(async () => {
        assert.equal(await readAll(folder.store(), 'a'), recordsBetween(1, 3))
        const lease = await folder.store().open('a')
        assert.equal([lease.lastSeq, lease.repairedBytes], [3, size - goodBytes])
      })
      assert.ok(peak < mostHeldBytes, `${peak} bytes were held`)
      assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), good)
    }
  })

  it(
    'in the middle, or of a byte over the limit, is refused, naming file, line and limit',
    patient,
    async (context) => {
      const folder = await storeFolder(context)
      const file = folder.file('a.jsonl')
      await folder.write('a.jsonl', good)
      const size = await addHugeLine(file, true, maxLineBytes + 9)
      const handle = await open(file, 'r+')
      await handle.write(linesOf(recordsBetween(5, 6)), size)
      await handle.close()
      const peak = await peakOf(async () => {
        await assert.rejects(readAll(folder.store(), 'a'), failsWith('LOG_CORRUPT', file, 'Line 4 ', maxLineBytes))
      })
      assert.ok(peak < mostHeldBytes, `${peak} bytes were held`)
      assert.equal(await readAll(folder.store(), 'a', 5), recordsBetween(5, 6))
    },
  )

  it('is not written: what is longer than the limit has no line', () => {
    // Strings that V8 does not lay out before they are looked at.
    assert.throws(() => lineOf('x'.repeat(maxLineBytes - 16)), failsWith('RECORD_TOO_LARGE', maxLineBytes))
    assert.throws(() => lineOf('漢'.repeat(maxLineBytes / 3)), failsWith('RECORD_TOO_LARGE', maxLineBytes))
  })
})

describe('lines as bytes', (it) => {
  it('are whole up to the limit and missing above it, whatever blocks they lie in', async (context) => {
    const folder = await storeFolder(context)
    const lengths = [0, 1, 99, 100, 101, 100, 3_000, 0, 100]
    const lines = lengths.map((length, index) => String.fromCharCode(97 + index).repeat(length))
    await folder.write('lines', `${lines.join('\n')}\ntorn`)
    const handle = await open(folder.file('lines'))
    context.cleanup(() => handle.close())
    for (const block of [11, 100, 101, 5_000]) {
      const inBlocks = {
        read: (bytes: Buffer, at: number, length: number, position: number) =>
          handle.read(bytes, at, Math.min(block, length), position),
      }
      for (const skip of [0, 1, 4, 9]) {
        const seen: (string | undefined)[] = []
        for await (const batch of readLines(inBlocks as never, { end: Infinity, skip, maxBytes: 100 }))
          for (const line of batch) seen.push(line?.toString())
        const expected = lines.slice(skip).map((line) => (line.length > 100 ? undefined : line))
        assert.equal(seen, expected, `blocks of ${block}, ${skip} skipped`)
      }
    }
  })
})

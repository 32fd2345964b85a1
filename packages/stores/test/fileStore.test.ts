import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { recordVersion } from '../../../src/protocol/records.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { lineOf } from '../src/checksum.ts'
import { fileStore } from '../src/fileStore.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

const seqsOf = (records: readonly { readonly seq: number }[]): number[] => records.map(({ seq }) => seq)

describe('file store, folder', (it) => {
  it('makes the folder, keeps one file an agent, and leaves nothing else behind', async (context) => {
    const folder = await storeFolder(context)
    const store = fileStore(folder.file('deep/er'))
    for (const id of ['a', 'b']) {
      await store.open(id)
      await store.append(id, recordsBetween(1, 3))
    }
    assert.equal((await readdir(folder.file('deep/er'))).toSorted(), ['a.jsonl', 'a.lock', 'b.jsonl', 'b.lock'])
    await store.close()
    assert.equal((await readdir(folder.file('deep/er'))).toSorted(), ['a.jsonl', 'b.jsonl'])
    assert.is(await readFile(folder.file('deep/er/a.jsonl'), 'utf8'), linesOf(recordsBetween(1, 3)))
  })

  it('lists nothing and reads nothing while the folder is missing, and does not make it', async (context) => {
    const folder = await storeFolder(context)
    const store = fileStore(folder.file('missing'))
    assert.equal(await store.list(), [])
    assert.equal(await readAll(store, 'a'), [])
    assert.equal(await readdir(folder.dir), [])
  })

  for (const durability of ['os', 'batch', 'each'] as const)
    it(`notices that the folder of its logs was deleted: ${durability}`, async (context) => {
      const folder = await storeFolder(context)
      const dir = folder.file('logs')
      const store = fileStore(dir, { durability })
      context.cleanup(() => store.close())
      await store.open('a')
      await store.append('a', recordsBetween(1, 3))
      await rm(dir, { recursive: true })
      for (const text of ['', 'x'.repeat(100_000)]) {
        const record = { ...recordsBetween(4, 4)[0]!, runId: text } as never
        await assert.rejects(store.append('a', [record]), failsWith('STORE_APPEND_FAILED', '"a"', 'was deleted'))
      }
    })

  it('lists no foreign files', async (context) => {
    const folder = await storeFolder(context)
    for (const name of ['notes.txt', 'a.lock', '.hidden.jsonl', 'bad name.jsonl', 'jsonl', '.jsonl'])
      await folder.write(name, 'x')
    await folder.write('empty.jsonl', '')
    await mkdir(folder.file('folder.jsonl'))
    await symlink(folder.file('gone'), folder.file('dangling.jsonl'))
    await folder.write('c.d.jsonl', linesOf(recordsBetween(1, 1)))
    assert.equal(await folder.store().list(), ['c.d'])
  })

  it('says so when the folder is a file, or lies in one', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('file', 'x')
    for (const path of ['file', 'file/deeper']) {
      const store = fileStore(folder.file(path))
      await assert.rejects(store.open('a'), failsWith('STORE_OPEN_FAILED', folder.file(path), 'not a folder'))
      await assert.rejects(store.list(), failsWith('STORE_READ_FAILED', folder.file(path)))
      await assert.rejects(readAll(store, 'a'), failsWith('STORE_READ_FAILED', folder.file(path)))
    }
  })

  it('says so when the log is a folder, and gives the lock back', async (context) => {
    const folder = await storeFolder(context)
    await mkdir(folder.file('a.jsonl'))
    const store = folder.store()
    await assert.rejects(store.open('a'), failsWith('STORE_OPEN_FAILED', folder.file('a.jsonl')))
    await assert.rejects(readAll(store, 'a'), failsWith('STORE_READ_FAILED', folder.file('a.jsonl')))
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })

  it('refuses a blank path', () => {
    assert.throws(() => fileStore(' '), failsWith('INVALID_OPTION'))
    assert.throws(() => fileStore(pathToFileURL('/x') as unknown as string), failsWith('INVALID_OPTION'))
  })

  it('still reads and lists after close', async (context) => {
    const store = (await storeFolder(context)).store()
    await store.open('a')
    await store.append('a', recordsBetween(1, 2))
    await store.close()
    assert.equal(await store.list(), ['a'])
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
  })

  it('leaves no lease behind when it is closed while one is being opened', async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    const opening = store.open('a')
    await store.close()
    await opening
    await assert.rejects(store.append('a', recordsBetween(1, 1)), failsWith('STORE_CLOSED'))
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })
})

describe('file store, torn tail', (it) => {
  for (const [title, whole] of [
    ['is cut off wherever the last line was torn', 2],
    ['is cut off when it is all there is', 0],
  ] as const)
    it(title, { timeoutMs: 10_000 }, async (context) => {
      const folder = await storeFolder(context)
      const store = folder.store()
      const good = linesOf(recordsBetween(1, whole))
      const last = Buffer.from(linesOf(recordsBetween(whole + 1, whole + 1)))
      for (let cut = 0; cut < last.length; cut += 1) {
        const torn = Buffer.concat([Buffer.from(good), last.subarray(0, cut)])
        await folder.write('a.jsonl', torn)
        assert.equal(seqsOf(await readAll(store, 'a')), seqsOf(recordsBetween(1, whole)), `read, cut at ${cut}`)
        assert.equal(await readFile(folder.file('a.jsonl')), torn, 'reading must not repair')
        const lease = await store.open('a')
        assert.equal([lease.lastSeq, lease.repairedBytes], [whole, cut], `open, cut at ${cut}`)
        assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), good)
        await store.append('a', recordsBetween(whole + 1, whole + 1))
        assert.equal(await readAll(store, 'a'), recordsBetween(1, whole + 1))
        await lease.release()
      }
    })

  const badLines: { readonly [what: string]: string } = {
    'not JSON': '{"v":3,"seq":3,\n',
    blank: '\n',
    zeros: '\0\0\0\0\n',
    'not a record': '{"v":3,"seq":3,"time":1,"type":"turn.start"}\n',
    'not an object': '3\n',
    'not a record, with the start of another line after it': 'nonsense\n{"v":3,"se',
    'zeros without end': '\0'.repeat(200_000),
  }
  for (const [what, tail] of Object.entries(badLines))
    it(`is cut off when it is ${what}`, async (context) => {
      const folder = await storeFolder(context)
      const store = folder.store()
      await folder.write('a.jsonl', linesOf(recordsBetween(1, 2)) + tail)
      assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
      const lease = await store.open('a')
      assert.equal([lease.lastSeq, lease.repairedBytes], [2, tail.length])
      await store.append('a', recordsBetween(3, 3))
      assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), linesOf(recordsBetween(1, 3)))
    })

  const firsts = [
    '{"type":"agent.created","agentId":"a","pa',
    '{"type":"host.created","ma',
    '{"v":3,"seq":1,"ti',
    '{"t',
    '{',
  ]
  const blanks = ['\n', '\r\n', '\uFEFF', '\uFEFF\n', '\n{"v":3,"se', '\0\0', '{"type":"agent.cr\0\0\0']
  for (const content of [...firsts, ...blanks])
    it(`is seen in a file that has nothing but ${JSON.stringify(content)}: the agent can begin`, async (context) => {
      const folder = await storeFolder(context)
      const store = folder.store()
      await folder.write('a.jsonl', content)
      assert.equal(await readAll(store, 'a'), [])
      const lease = await store.open('a')
      assert.equal([lease.lastSeq, lease.repairedBytes], [0, Buffer.byteLength(content)])
      await store.append('a', recordsBetween(1, 1))
      assert.equal(await readAll(store, 'a'), recordsBetween(1, 1))
    })

  it('is seen wherever the first record of an agent was torn', { timeoutMs: 10_000 }, async (context) => {
    const folder = await storeFolder(context)
    const runtime = await createRuntime({ store: folder.store() })
    await runtime.spawn(defineAgent({ name: 'a', model: policyModel(() => 'x') }), { id: 'a' })
    await runtime.close()
    const [first = ''] = (await readFile(folder.file('a.jsonl'), 'utf8')).split('\n')
    const store = folder.store()
    for (let cut = 0; cut <= first.length; cut += 1) {
      await folder.write('a.jsonl', first.slice(0, cut))
      const lease = await store.open('a')
      assert.equal([lease.lastSeq, lease.repairedBytes], [0, cut], `cut at ${cut}`)
      await lease.release()
    }
  })

  const notTorn: { readonly [what: string]: string } = {
    'a last line of an unknown type with the right checksum': `${linesOf(recordsBetween(1, 2))}${lineOf('{"v":3,"seq":3,"time":1,"type":"of.tomorrow","runId":"r"}')}\n`,
    'JSON that is no log, on one line': '{"name":"settings","values":[1,2,3]}',
    'the records of a log as a JSON array': JSON.stringify(recordsBetween(1, 2)),
    'a text without a newline': 'Buy milk.',
  }
  for (const [what, content] of Object.entries(notTorn))
    it(`is not seen in ${what}: the file is left as it is`, async (context) => {
      const folder = await storeFolder(context)
      const store = folder.store()
      await folder.write('a.jsonl', content)
      await assert.rejects(store.open('a'), failsWith('LOG_CORRUPT'))
      assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), content)
    })
})

describe('file store, a log that an editor or another system wrote again', (it) => {
  const good = linesOf(recordsBetween(1, 5))
  const inMiddle = (text: string): string => good.replace(linesOf(recordsBetween(3, 3)), (line) => `${text}${line}`)
  for (const [what, content] of Object.entries({
    'CRLF line ends': good.replaceAll('\n', '\r\n'),
    'a byte order mark': `\uFEFF${good}`,
    both: `\uFEFF${good.replaceAll('\n', '\r\n')}`,
    'a blank line in the middle': inMiddle('\n'),
    'blank lines with spaces in the middle and at the start': `\r\n\n${inMiddle(' \t\r\n')}`,
    'many blank lines at the end': `${good}${'\n'.repeat(40)}`,
    'a blank line between each': good.replaceAll('\n', '\n\n'),
  }))
    it(`is read from any record on, and goes on: ${what}`, async (context) => {
      const folder = await storeFolder(context)
      const store = folder.store()
      await folder.write('a.jsonl', content)
      for (let from = 1; from <= 6; from += 1) {
        const seqs: number[] = []
        for await (const { seq } of store.read('a', from)) seqs.push(seq)
        assert.equal(seqs, [1, 2, 3, 4, 5].slice(from - 1))
      }
      assert.is((await store.open('a')).lastSeq, 5)
      await store.append('a', recordsBetween(6, 7))
      assert.equal(await readAll(store, 'a'), recordsBetween(1, 7))
      for (let from = 1; from <= 8; from += 1) {
        const seqs: number[] = []
        for await (const { seq } of store.read('a', from)) seqs.push(seq)
        assert.equal(seqs, [1, 2, 3, 4, 5, 6, 7].slice(from - 1))
      }
    })

  it('is damaged where a record is missing', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.jsonl', `${linesOf(recordsBetween(1, 1))}\n${linesOf(recordsBetween(3, 3))}`)
    await assert.rejects(readAll(folder.store(), 'a'), failsWith('LOG_CORRUPT', 'Line 3 ', 'its seq is 3, not 2'))
  })
})

describe('file store, damaged log', (it) => {
  it('names the file and the line of a bad line before the last, after the good ones', async (context) => {
    const folder = await storeFolder(context)
    const [one, three] = [linesOf(recordsBetween(1, 1)), linesOf(recordsBetween(3, 3))]
    const bad = { nonsense: 'not JSON', '{"v":3,"seq":2,"time":1,"type":"agent.stoped"}': 'type' }
    for (const [line, why] of Object.entries(bad)) {
      await folder.write('a.jsonl', `${one}${line}\n${three}`)
      const seen: number[] = []
      const reading = async (): Promise<void> => {
        for await (const { seq } of folder.store().read('a')) seen.push(seq)
      }
      await assert.rejects(reading, failsWith('LOG_CORRUPT', folder.file('a.jsonl'), 'Line 2 ', why))
      assert.equal(seen, [1])
    }
  })

  it('is not opened, nor cut, when two whole lines at the end are bad', async (context) => {
    const folder = await storeFolder(context)
    const content = `${linesOf(recordsBetween(1, 4))}nonsense\nmore\n`
    await folder.write('a.jsonl', content)
    await assert.rejects(folder.store().open('a'), failsWith('LOG_CORRUPT', folder.file('a.jsonl'), 'Line 5 '))
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), content)
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })

  it('is refused when a record is missing or twice in the file', async (context) => {
    const folder = await storeFolder(context)
    const [one, two, three] = [1, 2, 3].map((seq) => linesOf(recordsBetween(seq, seq)))
    await folder.write('gap.jsonl', `${one}${three}`)
    await folder.write('twice.jsonl', `${one}${one}${two}`)
    await assert.rejects(readAll(folder.store(), 'gap'), failsWith('LOG_CORRUPT', 'Line 2 ', 'seq is 3, not 2'))
    await assert.rejects(readAll(folder.store(), 'twice'), failsWith('LOG_CORRUPT', 'Line 2 ', 'seq is 1, not 2'))
  })

  it('is refused, not repaired, when a newer version wrote it', async (context) => {
    const folder = await storeFolder(context)
    const content = `${linesOf(recordsBetween(1, 1))}{"v":${recordVersion + 1},"seq":2,"new":true}\n`
    await folder.write('a.jsonl', content)
    const refusal = failsWith('LOG_VERSION', folder.file('a.jsonl'), 'Line 2 ', recordVersion + 1)
    await assert.rejects(readAll(folder.store(), 'a'), refusal)
    await assert.rejects(folder.store().open('a'), refusal)
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), content)
  })
})

describe('file store, many records', (it) => {
  it('keeps the order of thousands of appends to several agents', { timeoutMs: 10_000 }, async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    const ids = ['a', 'b', 'c']
    await Promise.all(ids.map((id) => store.open(id)))
    const records = recordsBetween(1, 3_000)
    let acknowledged = 0
    await Promise.all(
      records.flatMap((record) =>
        ids.map(async (id) => {
          await store.append(id, [record])
          acknowledged += 1
        }),
      ),
    )
    assert.is(acknowledged, 9_000)
    for (const id of ids) assert.is(await readFile(folder.file(`${id}.jsonl`), 'utf8'), linesOf(records))
    assert.equal(await readAll(store, 'b'), records)
  })

  it('reads while another writes: every read is a prefix that holds what was acknowledged', async (context) => {
    const store = (await storeFolder(context)).store()
    await store.open('a')
    const progress = { acknowledged: 0 }
    const writing = (async () => {
      for (let seq = 1; seq <= 300; seq += 3) {
        await store.append('a', recordsBetween(seq, seq + 2))
        progress.acknowledged = seq + 2
      }
    })()
    while (progress.acknowledged < 300) {
      const before = progress.acknowledged
      const seen = await readAll(store, 'a')
      assert.ok(seen.length >= before)
      assert.equal(seen, recordsBetween(1, seen.length))
    }
    await writing
  })

  it('reads lines longer than a block, from any seq, without breaking a character', async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    await store.open('a')
    const records = recordsBetween(1, 12).map((record, index) =>
      record.type === 'message.added'
        ? {
            ...record,
            message: {
              ...record.message,
              content: [{ type: 'text' as const, text: '漢🙂é'.repeat(index * 9_000) }],
            },
          }
        : record,
    )
    await store.append('a', records)
    for (let fromSeq = 1; fromSeq <= 13; fromSeq += 1)
      assert.equal(await readAll(store, 'a', fromSeq), records.slice(fromSeq - 1))
    const lease = await folder.store().open('b')
    await lease.release()
    await store.close()
    assert.is((await folder.store().open('a')).lastSeq, 12)
  })

  it('lets a reader stop early and closes the file', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.jsonl', linesOf(recordsBetween(1, 2_000)))
    const openFiles = async (): Promise<number> =>
      process.platform === 'linux' ? (await readdir('/proc/self/fd')).length : 0
    const before = await openFiles()
    for (let round = 0; round < 20; round += 1)
      for await (const { seq } of folder.store().read('a')) if (seq === 3) break
    assert.ok((await openFiles()) < before + 10)
  })
})

import { recordVersion } from '../../../src/protocol/records.ts'
import { mkdir, open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { repairLog } from '../src/repairLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from '../../cli/test/cliInProcess.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

const damaged = (kept: number, last: number): { readonly good: string; readonly content: string } => {
  const good = linesOf(recordsBetween(1, kept))
  const bad = linesOf(recordsBetween(kept + 1, kept + 1)).replace(`"v":${recordVersion}`, `"v":${recordVersion + 1}`)
  return { good, content: good + bad + linesOf(recordsBetween(kept + 2, last)) }
}

describe('repairing a log', (it) => {
  it('keeps every record before the first bad line, and a copy of the file as it was', async (context) => {
    const folder = await storeFolder(context)
    const file = folder.file('a.jsonl')
    for (const [number, kept] of [1_500, 3, 0].entries()) {
      const { good, content } = damaged(kept, kept + 4)
      await folder.write('a.jsonl', content)
      const backup = `${file}.damaged-${number + 1}`
      const cutBytes = Buffer.byteLength(content) - Buffer.byteLength(good)
      assert.equal(await repairLog(file), { kept, cutBytes, backup })
      assert.is(await readFile(file, 'utf8'), good)
      assert.is(await readFile(backup, 'utf8'), content)
    }
    const store = folder.store()
    assert.is((await store.open('a')).lastSeq, 0)
    await store.append('a', recordsBetween(1, 2))
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
    assert.equal(await store.list(), ['a'])
  })

  it('has the copy on the disk, with its name, before it cuts anything off', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.jsonl', damaged(3, 7).content)
    const handle = await open(folder.file('a.jsonl'))
    const methods = Object.getPrototypeOf(handle) as Pick<FileHandle, 'sync' | 'truncate'>
    await handle.close()
    const { sync, truncate } = methods
    context.cleanup(() => Object.assign(methods, { sync, truncate }))
    const done: (readonly [string, number])[] = []
    methods.sync = async function (this: FileHandle) {
      await sync.call(this)
      done.push(['synced', (await this.stat()).ino])
    }
    methods.truncate = async function (this: FileHandle, size) {
      done.push(['cut', (await this.stat()).ino])
      await truncate.call(this, size)
    }
    const { backup } = await repairLog(folder.file('a.jsonl'))
    const inodeOf = async (path: string): Promise<number> => (await stat(path)).ino
    const log = await inodeOf(folder.file('a.jsonl'))
    const ofFolder = process.platform === 'win32' ? [] : [['synced', await inodeOf(folder.dir)]]
    assert.equal(done, [['synced', await inodeOf(backup!)], ...ofFolder, ['cut', log], ['synced', log]])
  })

  it('cuts at the right byte when lines before are long or the bad one is not text', async (context) => {
    const folder = await storeFolder(context)
    const [first, second] = recordsBetween(1, 2)
    const long = { ...first, runId: '漢'.repeat(70_000) } as typeof first & object
    const good = linesOf([long, second as typeof long])
    await folder.write(
      'a.jsonl',
      Buffer.concat([Buffer.from(good), Buffer.from([0xff, 10, 0xfe, 10]), Buffer.from(good)]),
    )
    assert.is((await repairLog(folder.file('a.jsonl'))).kept, 2)
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), good)
  })

  it('cuts a torn tail and a gap, and leaves a whole or empty log alone', async (context) => {
    const folder = await storeFolder(context)
    const file = folder.file('a.jsonl')
    const good = linesOf(recordsBetween(1, 3))
    for (const bad of ['{"v":3,"se', linesOf(recordsBetween(5, 6))]) {
      await folder.write('a.jsonl', good + bad)
      const { kept, cutBytes } = await repairLog(file)
      assert.equal([kept, cutBytes], [3, Buffer.byteLength(bad)])
    }
    assert.equal(await repairLog(file), { kept: 3, cutBytes: 0, backup: null })
    await folder.write('a.jsonl', '')
    assert.equal(await repairLog(file), { kept: 0, cutBytes: 0, backup: null })
    assert.equal((await readdir(folder.dir)).toSorted(), ['a.jsonl', 'a.jsonl.damaged-1', 'a.jsonl.damaged-2'])
  })

  it('is refused for a file without one record, which it names', async (context) => {
    const folder = await storeFolder(context)
    const claude = '{"type":"user","sessionId":"s","message":{"role":"user","content":"hi"}}\n'
    for (const [content, name] of [
      [claude.repeat(3), 'Claude Code'],
      [JSON.stringify([{ role: 'user', content: 'hi' }], null, 2), 'chat messages'],
      ['hello\n', 'no record of a log'],
    ] as const) {
      await folder.write('a.jsonl', content)
      await assert.rejects(repairLog(folder.file('a.jsonl')), failsWith('FOREIGN_FORMAT', 'Nothing was changed', name))
      assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), content)
      assert.equal(await readdir(folder.dir), ['a.jsonl'])
    }
  })

  it('leaves alone what an editor or another system did to the lines, and cuts only what is bad', async (context) => {
    const folder = await storeFolder(context)
    const file = folder.file('a.jsonl')
    const good = linesOf(recordsBetween(1, 3))
    for (const written of [
      good.replaceAll('\n', '\r\n'),
      `\uFEFF${good}`,
      good.replace('\n', '\n\n \r\n'),
      `${good}\n\n`,
    ]) {
      await folder.write('a.jsonl', written)
      assert.equal(await repairLog(file), { kept: 3, cutBytes: 0, backup: null })
      assert.is(await readFile(file, 'utf8'), written)
      await folder.write('a.jsonl', `${written}nonsense\n${linesOf(recordsBetween(5, 6))}`)
      assert.is((await repairLog(file)).kept, 3)
      assert.ok(written.startsWith(await readFile(file, 'utf8')))
      assert.equal(await readAll(folder.store(), 'a'), recordsBetween(1, 3))
    }
  })

  it('is refused while the log is written, and then changes nothing', async (context) => {
    const folder = await storeFolder(context)
    const { content } = damaged(2, 5)
    await folder.write('a.jsonl', content)
    const store = folder.store()
    await store.open('a')
    await assert.rejects(repairLog(folder.file('a.jsonl')), failsWith('STORE_LOCKED', process.pid))
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), content)
    assert.equal((await readdir(folder.dir)).toSorted(), ['a.jsonl', 'a.lock'])
  })

  it('is refused for a newer version, another file, a folder, or none', async (context) => {
    const folder = await storeFolder(context)
    const newer = `${linesOf(recordsBetween(1, 1))}{"v":4,"seq":2}\n{"v":3,"seq":3}\n`
    await folder.write('newer.jsonl', newer)
    await folder.write('photo.png', 'x')
    await mkdir(folder.file('folder.jsonl'))
    await assert.rejects(repairLog(folder.file('newer.jsonl')), failsWith('LOG_VERSION', 'Line 2 '))
    await assert.rejects(repairLog(folder.file('photo.png')), failsWith('INVALID_OPTION', '.jsonl'))
    await assert.rejects(repairLog(folder.file('folder.jsonl')), failsWith('STORE_OPEN_FAILED', 'not a file'))
    await assert.rejects(repairLog(folder.file('none.jsonl')), failsWith('STORE_OPEN_FAILED', 'none.jsonl'))
    assert.is(await readFile(folder.file('newer.jsonl'), 'utf8'), newer)
    assert.equal((await readdir(folder.dir)).toSorted(), ['folder.jsonl', 'newer.jsonl', 'photo.png'])
  })
})

describe('escapement repair', (it) => {
  const patient = { timeoutMs: 30_000 }

  it('says what it kept and cut, and that a whole log is whole', patient, async (context) => {
    const folder = await storeFolder(context)
    const file = folder.file('a.jsonl')
    await folder.write('a.jsonl', damaged(2, 5).content)
    const first = await runCli(context, ['repair', file])
    assert.equal([first.code, first.stderr], [0, ''])
    assert.match(first.stdout, /2 records kept, [\d,]+ bytes cut off/)
    assert.ok(first.stdout.includes(`${file}.damaged-1`))
    const again = await runCli(context, ['repair', file])
    assert.equal([again.code, again.stdout], [0, `${file} is whole: 2 records; nothing was changed.\n`])
    const json = await runCli(context, ['repair', '--json', file])
    assert.equal(JSON.parse(json.stdout), { file, kept: 2, cutBytes: 0, backup: null })
  })

  it('exits with 1 when the log is held or missing, and with 2 when it was misunderstood', patient, async (context) => {
    const folder = await storeFolder(context)
    await folder.store().open('a')
    const run = (...args: string[]) => runCli(context, ['repair', ...args])
    const [held, missing, other, none] = await Promise.all([
      run(folder.file('a.jsonl')),
      run(folder.file('b.jsonl')),
      run(folder.file('b.txt')),
      run(),
    ])
    assert.equal([held.code, missing.code, other.code, none.code], [1, 1, 2, 2])
    assert.match(held.stderr, /STORE_LOCKED/)
    assert.match(missing.stderr, /b\.jsonl could not be repaired.*STORE_OPEN_FAILED/)
    assert.match(none.stderr, /"repair" needs a file, like: escapement repair \.escapement\//)
  })
})

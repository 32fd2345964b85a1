import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keep } from '../src/keep.ts'
import type { ArchivePort } from '../src/keepArchive.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { kept, memoOf } from './keptSteps.ts'

async function tempFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'))
  cleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Exported session, with a flag that tells if it was closed. */
function exported(...lines: readonly string[]) {
  const seen = { isClosed: false, read: 0 }
  async function* exportSession(): AsyncGenerator<string> {
    try {
      for (const line of lines) {
        seen.read += 1
        yield `${line}\n`
      }
    } finally {
      seen.isClosed = true
    }
  }
  return { seen, exportSession }
}

describe('archive', (it) => {
  const lines = ['{"header":1}', '{"created":1}', '{"record":2}']

  it('writes the session to a file in its folder, and names it', async (context) => {
    const folder = join(await tempFolder(context), 'not', 'yet', 'there')
    const { seen, exportSession } = exported(...lines)
    const memo = await memoOf(keep.archive(folder), { exportSession })
    const [name] = await readdir(folder)
    assert.match(name!, /^a-[0-9a-f]{8}\.jsonl$/)
    assert.is(await readFile(join(folder, name!), 'utf8'), `${lines.join('\n')}\n`)
    assert.match(memo, /^n2–n8 4 steps; /)
    assert.ok(memo.includes(`\nArchived in ${join(folder, name!)}\n(recall brings`), memo)
    assert.ok(seen.isClosed)
  })

  it('replaces the archive of the same session, and of no other', async (context) => {
    const folder = await tempFolder(context)
    await kept(keep.archive(folder), { exportSession: exported(...lines).exportSession })
    await kept(keep.archive(folder), { exportSession: exported(...lines, '{"record":3}').exportSession })
    const [name, ...others] = await readdir(folder)
    assert.equal(others, [])
    assert.match(await readFile(join(folder, name!), 'utf8'), /"record":3/)
    // Another agent of the same id was made at another time.
    await kept(keep.archive(folder), { exportSession: exported(lines[0]!, '{"created":2}').exportSession })
    assert.is((await readdir(folder)).length, 2)
    assert.match(await readFile(join(folder, name!), 'utf8'), /"record":3/)
  })

  it('writes long sessions whole', async (context) => {
    const folder = await tempFolder(context)
    const many = Array.from({ length: 3_000 }, (_, i) => JSON.stringify({ i, text: 'x'.repeat(100) }))
    await kept(keep.archive(folder), { exportSession: exported(...many).exportSession })
    const [name] = await readdir(folder)
    assert.is(await readFile(join(folder, name!), 'utf8'), `${many.join('\n')}\n`)
  })

  it('leaves the older archive and no other file when it fails in the middle', async (context) => {
    const folder = await tempFolder(context)
    await kept(keep.archive(folder), { exportSession: exported(...lines).exportSession })
    async function* failing(): AsyncGenerator<string> {
      yield* lines.map((line) => `${line}\n`)
      throw new Error('the store is closed')
    }
    await assert.rejects(kept(keep.archive(folder), { exportSession: failing }), /the store is closed/)
    const [name, ...others] = await readdir(folder)
    assert.equal(others, [])
    assert.is(await readFile(join(folder, name!), 'utf8'), `${lines.join('\n')}\n`)
  })

  it('writes nothing when it is aborted', async (context) => {
    const folder = await tempFolder(context)
    const signal = AbortSignal.abort(new Error('the run was aborted'))
    const { seen, exportSession } = exported(...lines)
    await assert.rejects(kept(keep.archive(folder), { exportSession, signal }), /the run was aborted/)
    assert.equal([await readdir(folder), seen.isClosed], [[], true])
  })

  it('hides nothing when the folder cannot be made', async (context) => {
    const file = join(await tempFolder(context), 'file')
    await writeFile(file, '')
    const { seen, exportSession } = exported(...lines)
    await assert.rejects(kept(keep.archive(file), { exportSession }), /EEXIST|ENOTDIR/)
    assert.ok(seen.isClosed)
  })

  it('gives a port the lines, and names the place that it names', async () => {
    const written: string[] = []
    const port: ArchivePort = {
      async write(name, given) {
        for await (const line of given) written.push(line)
        return `s3://archive/${name}`
      },
    }
    const memo = await memoOf(keep.archive(port), { exportSession: exported(...lines).exportSession })
    assert.equal(
      written,
      lines.map((line) => `${line}\n`),
    )
    assert.match(memo, /\nArchived in s3:\/\/archive\/a-[0-9a-f]{8}\.jsonl\n/)
  })

  it('closes the export of a port that does not read it, and names the archive itself', async () => {
    const { seen, exportSession } = exported(...lines)
    const memo = await memoOf(keep.archive({ write: async () => {} }), { exportSession, canRecall: false })
    assert.match(memo, /\nArchived in a-[0-9a-f]{8}\.jsonl$/)
    assert.equal([seen.isClosed, seen.read], [true, 2])
    await assert.rejects(kept(keep.archive({ write: async () => 5 as never })), withCode('INVALID_OPTION', 'write'))
  })

  it('refuses what is neither a folder nor a port', () => {
    for (const wrong of ['', ' ', undefined, {}, 5])
      assert.throws(() => keep.archive(wrong as never), withCode('INVALID_OPTION', 'keep.archive: give a folder'))
  })
})

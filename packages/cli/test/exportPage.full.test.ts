import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { offlinePage, someFolder } from '../../page/test/offline/offlinePage.ts'
import { recordedSessions } from '../../page/test/offline/recordedSessions.ts'
import { copySessions } from '../../sessions/src/copySessions.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'

describe('escapement export --html', (it) => {
  it('writes one page with the session and its sub-agents', { timeoutMs: 60_000 }, async (context) => {
    await offlinePage()
    const folder = await someFolder(context)
    const store = fileStore(join(folder, 'logs'))
    await copySessions(await recordedSessions(), store)
    await store.close()
    const file = join(folder, 'boss.html')
    const logs = ['--logs', join(folder, 'logs')]
    const { code } = await runCli(context, ['export', 'boss-1', '--html', '--out', file, ...logs])
    assert.is(code, 0)
    const html = await readFile(file, 'utf8')
    assert.match(html, /^<!doctype html>/)
    assert.match(html, '"boss-1.2"')
    const both = await runCli(context, ['export', 'boss-1', '--html', '--markdown', ...logs])
    assert.is(both.code, 2)
    assert.match(both.stderr, 'Give one of --jsonl, --markdown, --html, --test and --task.')
    const none = await runCli(context, ['export', 'nobody', '--html', ...logs])
    assert.not.equal(none.code, 0)
  })
})

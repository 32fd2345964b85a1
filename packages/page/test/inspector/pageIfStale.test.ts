import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { isStale } from '../../../../scripts/pageIfStale.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const pages = ['dist/inspector/index.html', 'dist/offline/inspector.js']
const sources = ['packages/page/src/inspector/views/shell.tsx', 'src/protocol/ids.ts', 'package-lock.json']

describe('npm start', (it) => {
  it('builds the page where it is missing, or older than a source', (context) => {
    const files = Object.fromEntries([...pages, ...sources].map((path) => [path, 'text']))
    const folder = projectFolder(context, files)
    const writtenAt = (path: string, seconds: number): void => utimesSync(join(folder, path), seconds, seconds)
    const folders = [
      'src',
      'src/protocol',
      'packages',
      'packages/page',
      'packages/page/src',
      'packages/page/src/inspector',
      'packages/page/src/inspector/views',
    ]
    for (const path of [...sources, ...folders]) writtenAt(path, 1_000)
    for (const path of pages) writtenAt(path, 2_000)
    assert.not(isStale(folder))
    // A folder changes when a file in it is removed.
    for (const path of [...sources, 'src', 'src/protocol']) {
      writtenAt(path, 3_000)
      assert.ok(isStale(folder), path)
      writtenAt(path, 1_000)
    }
    for (const path of pages) {
      writtenAt(path, 999)
      assert.ok(isStale(folder), path)
      writtenAt(path, 2_000)
    }
    assert.not(isStale(folder))
    rmSync(join(folder, pages[1]!))
    assert.ok(isStale(folder))
  })
})

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingPrograms } from './cachedPackages.ts'
import { assert, describe } from './suite.ts'

describe('packages that are installed for tests', (it) => {
  it('lack a program for this platform where npm went on without it', async ({ cleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'escapement-programs-'))
    cleanup(() => rm(folder, { recursive: true }))
    const here = { os: [process.platform], cpu: [process.arch], optional: true }
    const packages = {
      '': {},
      'node_modules/plain': {},
      'node_modules/mine': here,
      'node_modules/other': { ...here, cpu: ['wasm32'] },
    }
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
    assert.equal(missingPrograms(folder), ['node_modules/mine'])
    await mkdir(join(folder, 'node_modules', 'mine'), { recursive: true })
    assert.equal(missingPrograms(folder), [])
  })
})

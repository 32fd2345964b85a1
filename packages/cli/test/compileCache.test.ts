import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compileCacheFolder } from '../src/compileCacheFolder.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { projectFolder, spawnCli } from './cliChild.ts'

describe('what Node compiles of the command line', (it) => {
  it('is kept in the own folder of a user, by the custom of the system', () => {
    const folder = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}) =>
      compileCacheFolder({ platform, env }, join('/home', 'ada'))
    const own = (...path: readonly string[]) => join(...path, 'escapement', 'compiled')
    assert.is(folder('linux'), own('/home', 'ada', '.cache'))
    assert.is(folder('linux', { XDG_CACHE_HOME: '/caches' }), own('/caches'))
    assert.is(folder('darwin', { XDG_CACHE_HOME: '/caches' }), own('/home', 'ada', 'Library', 'Caches'))
    assert.is(folder('win32'), own('/home', 'ada', 'AppData', 'Local'))
    assert.is(folder('win32', { LOCALAPPDATA: '/local' }), own('/local'))
  })

  it('is there after a command, and is not where that is switched off', async (context) => {
    const [kept, none] = [projectFolder(context), projectFolder(context)]
    const list = (cwd: string, env: Readonly<Record<string, string>>) =>
      spawnCli(context, ['sessions'], { cwd, env: { HOME: cwd, NODE_COMPILE_CACHE: '', ...env } })
    assert.is((await list(kept, {})).code, 0)
    assert.ok(readdirSync(join(kept, '.cache', 'escapement', 'compiled')).length > 0)
    assert.is((await list(none, { NODE_DISABLE_COMPILE_CACHE: '1' })).code, 0)
    assert.not(existsSync(join(none, '.cache')))
  })

  it('is done without where it cannot be kept', async (context) => {
    const cwd = projectFolder(context, { file: '' })
    const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(cwd, 'file') }
    const { code, stderr } = await spawnCli(context, ['sessions', 'export', '--help'], { cwd, env })
    assert.equal([code, stderr], [0, ''])
  })
})

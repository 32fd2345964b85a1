import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { treeFolder } from './treeFolder.ts'

const limits = { timeoutMs: 120_000 }
const root = join(import.meta.dirname, '../../../../..')
/** With npm of this Node beside it, and without a network. */
const env = {
  PATH: `${dirname(process.execPath)}:${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
  npm_config_cache: undefined,
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
}

const made = { more: { env } }

describe('undoing what people have models run', (it) => {
  it(
    'undoes npm install, which .gitignore hides, and leaves what somebody else changed in it',
    limits,
    async (context) => {
      const files = {
        'package.json': JSON.stringify({ name: 'app', version: '1.0.0', dependencies: {} }, null, 2),
        '.gitignore': 'node_modules\n',
        'lib/dep/package.json': JSON.stringify({ name: 'dep', version: '1.2.3', bin: { dep: 'dep.js' } }),
        'lib/dep/dep.js': '#!/usr/bin/env node\n',
      }
      const { dir, run, undo, seen, done } = treeFolder(context, files, made)
      const before = seen()
      // A copy and not a link, as from a registry.
      const said = await run('npm install --install-links --cache ../cache ./lib/dep')
      assert.match(said, /added 1 package/)
      assert.match(readFileSync(join(dir, 'package.json'), 'utf8'), /"dep": "file:lib\/dep"/)
      assert.ok(existsSync(join(dir, 'node_modules/dep/dep.js')))
      assert.equal(await undo(), [])
      assert.equal(seen(), before)

      done.length = 0
      assert.match(await run('npm install --install-links --cache ../cache ./lib/dep'), /added 1 package/)
      writeFileSync(join(dir, 'node_modules/dep/dep.js'), 'mine')
      assert.equal(await undo(), [
        'all else is as before, but not node_modules/dep/dep.js (it was changed by something else since)',
      ])
      const { 'node_modules/dep/dep.js': mine, ...rest } = seen((path) => path === 'node_modules/.package-lock.json')
      assert.match(mine ?? '', /mine$/)
      assert.equal(
        Object.keys(rest).filter((path) => !(path in before)),
        ['node_modules', 'node_modules/dep'],
      )
      assert.not.ok(existsSync(join(dir, 'package-lock.json')))
    },
  )

  it('undoes a formatter', limits, async (context) => {
    const { dir, run, undo, seen } = treeFolder(
      context,
      { 'a.ts': 'let  a = {b:1}', 'src/b.ts': 'const  c=[1,2]' },
      made,
    )
    const before = seen()
    await run('oxfmt .')
    assert.is(readFileSync(join(dir, 'src/b.ts'), 'utf8'), 'const c = [1, 2];\n')
    writeFileSync(join(dir, 'a.ts'), 'mine')
    assert.equal(await undo(), ['all else is as before, but not a.ts (it was changed by something else since)'])
    assert.equal(seen(), { ...before, 'a.ts': before['a.ts']!.replace(/^(file \d+) .*$/, '$1 mine') })
  })
})

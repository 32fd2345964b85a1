import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { inBrowser } from '../../../../scripts/inBrowser.ts'
import { bundleOffline } from '../../../../scripts/offlinePage.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** Kilobytes that a report or an exported page has to carry once, and as servers send them. */
const mostBytes = { script: 1_246_000, gzipped: 408_500, style: 76_000 }

describe('the page without a server', (it) => {
  it(
    'is one classic script that imports nothing, starts no worker and is bearable',
    { timeoutMs: 120_000 },
    async ({ cleanup }) => {
      const folder = await mkdtemp(join(tmpdir(), 'escapement-bundle-'))
      cleanup(() => rm(folder, { recursive: true }))
      await bundleOffline([], folder)
      const script = await readFile(join(folder, 'inspector.js'), 'utf8')
      const style = await readFile(join(folder, 'inspector.css'), 'utf8')
      assert.not.match(script, /["'`]node:\w/)
      assert.not.match(script, /\brequire\(|\bimport\(|\bimport\.meta|^\s*(?:import|export)\b/m)
      assert.not.match(script, /new (?:Shared)?Worker\(|\bfetch\("/)
      assert.not.match(style, /url\((?!"?data:)/)
      const weights = { script: script.length, gzipped: gzipSync(script).length, style: style.length }
      const names = Object.keys(weights) as (keyof typeof weights)[]
      assert.equal(
        names.filter((name) => weights[name] > mostBytes[name]),
        [],
        JSON.stringify(weights),
      )
    },
  )

  it('does not build with any other module of Node', { timeoutMs: 60_000 }, async () => {
    const bundle = (code: string): Promise<unknown> =>
      build({
        configFile: false,
        logLevel: 'silent',
        plugins: [
          inBrowser(),
          {
            name: 'given',
            resolveId: (id) => (id === 'given' ? id : undefined),
            load: (id) => (id === 'given' ? code : undefined),
          },
        ],
        build: { write: false, rolldownOptions: { input: 'given' } },
      })
    await assert.rejects(
      bundle("import { readFileSync } from 'node:fs'\nconsole.log(readFileSync)"),
      /given imports node:fs, which a page does not have/,
    )
    await bundle(
      "import { createHash } from 'node:crypto'\nconsole.log(createHash('sha256').update('a').digest('hex'))",
    )
  })
})

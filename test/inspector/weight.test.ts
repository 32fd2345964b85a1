import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { assert, describe } from '../support/suite.ts'

const page = join(import.meta.dirname, '..', '..', 'src', 'inspector')

/** Bytes of all scripts of the page together, as brotli has them, without the worker that lays charts out. */
const mostBytes = 98_000

describe('the weight of the page', (it) => {
  it('is what a slow connection bears, and zod is none of it', { timeoutMs: 120_000 }, async () => {
    const made = await build({
      root: page,
      configFile: join(page, 'vite.config.ts'),
      logLevel: 'error',
      build: { write: false },
    })
    const [{ output }] = [made].flat() as [Rolldown.RolldownOutput]
    const chunks = output.filter((part) => part.type === 'chunk')
    const packages = new Set<string>()
    for (const id of chunks.flatMap(({ modules }) => Object.keys(modules)))
      packages.add(/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? '')
    assert.not.ok(packages.has('zod'), 'a module that the page imports has a schema')
    assert.ok(packages.has('preact'))
    const bytes = chunks.reduce((sum, { code }) => sum + brotliCompressSync(code).length, 0)
    assert.ok(bytes <= mostBytes, `${bytes} bytes`)
  })
})

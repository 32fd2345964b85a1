import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { assert, describe } from '../support/suite.ts'

const page = join(import.meta.dirname, '..', '..', 'src', 'inspector')

/** Bytes as brotli has them: of what every visit loads, and of all scripts, without the worker that lays charts out. */
const most = { first: 97_000, all: 170_000 }

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
    const bytesOf = (code: string): number => brotliCompressSync(code).length
    const atFirst = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName))
    for (const name of atFirst)
      for (const imported of chunks.find(({ fileName }) => fileName === name)!.imports) atFirst.add(imported)
    const first = chunks.reduce((sum, { code, fileName }) => (atFirst.has(fileName) ? sum + bytesOf(code) : sum), 0)
    const all = chunks.reduce((sum, { code }) => sum + bytesOf(code), 0)
    assert.ok(first <= most.first && all <= most.all, `${first} bytes at first, ${all} together`)
  })
})

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert, describe } from '../support/suite.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

describe('the README', (it) => {
  it('has a first example that runs as printed', { timeoutMs: 20_000 }, async ({ cleanup, signal }) => {
    const code = /```ts\n([\s\S]*?)```/.exec(await read('README.md'))?.[1]
    assert.ok(code)
    const folder = await mkdtemp(join(root, 'test', '.readme-'))
    cleanup(() => rm(folder, { recursive: true }))
    const file = join(folder, 'example.ts')
    await writeFile(file, code.replace("from 'escapement'", "from '../../src/index.ts'"))
    const { stdout } = await promisify(execFile)(process.execPath, [file], { signal })
    assert.match(stdout, /^You rolled \d+\.\n2 turns\n$/)
  })

  it('names commands that package.json and CI have', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
    assert.ok(scripts['start'])
    assert.ok(scripts['test'])
    const readme = await read('README.md')
    assert.match(readme, /npm ci && npm start/)
    assert.match(readme, /npm ci && npm test/)
    assert.match(await read('.ci/run'), /\nnpm ci\n[^]*\nnpm test [^]*\nnpm run test:rest /)
    assert.ok(scripts['test:rest'])
  })

  it('links to files that exist', async () => {
    for (const page of ['README.md', 'docs/guide.md']) {
      for (const [, target] of (await read(page)).matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
        const path = fileURLToPath(new URL(target!, new URL(page, `file://${root}/`)))
        await readFile(path).catch((thrown: unknown) => {
          if ((thrown as NodeJS.ErrnoException).code !== 'EISDIR')
            throw new Error(`${page} links to ${target!}, which does not exist`)
        })
      }
    }
  })
})

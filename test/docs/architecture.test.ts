import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe } from '../support/suite.ts'

const root = join(import.meta.dirname, '..', '..')
const sources = globSync(['src/**', 'packages/*/{src,test}/**', 'packages/*'], { cwd: root }).map((path) =>
  path.replaceAll('\\', '/'),
)
const rooms = globSync('{src/*,packages/*}/', { cwd: root })

/** The files and folders that a page names in code spans: `runs.ts`, `machines/guards.ts`, `stores/`. */
const named = (page: string): readonly string[] =>
  [...page.matchAll(/`((?:[\w-]+\/)*(?:[\w-]+\.ts|[\w-]+\/))`/g)].map(([, path]) => path!)

const isThere = (path: string): boolean => {
  if (/^(?:src|packages|scripts)\/.*\.ts$/.test(path)) return readFileSync(join(root, path)).length > 0
  const end = path.replace(/\/$/, '')
  return sources.some((other) => other === end || other.endsWith(`/${end}`))
}

describe('the pages on the source', (it) => {
  it('name files and folders that are there', () => {
    for (const page of ['docs/architecture.md', ...rooms.map((room) => join(room, 'README.md'))]) {
      const paths = named(readFileSync(join(root, page), 'utf8'))
      for (const path of paths) assert.ok(isThere(path), `${page} names ${path}`)
    }
    assert.ok(named(readFileSync(join(root, 'docs/architecture.md'), 'utf8')).length > 60)
  })
})

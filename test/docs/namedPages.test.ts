import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, describe } from '../support/suite.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

/** Without comments of whole lines, which users do not read. */
const withoutComments = (code: string): string => code.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')

describe('a page that a text of the package names', (it) => {
  it('is in the package', async () => {
    const { files } = JSON.parse(await read('package.json')) as { files: readonly string[] }
    const packed = new Set(files.flatMap((pattern) => globSync(pattern, { cwd: root })))
    const named = new Map<string, string>()
    for (const file of globSync('{src,packages/*/src}/**/*.{ts,tsx}', { cwd: root }))
      for (const [, page] of withoutComments(await read(file)).matchAll(/escapement\/(docs\/[\w./-]+\.\w+)/g))
        named.set(page!, file)
    for (const file of globSync('create-escapement/templates/**/*.{md,ts}', { cwd: root }))
      for (const [, page] of (await read(file)).matchAll(/node_modules\/escapement\/(docs\/[\w./-]+\.\w+)/g))
        named.set(page!, file)
    assert.ok(named.size > 4)
    for (const [page, file] of named) assert.ok(packed.has(page), `${file} names ${page}, which npm does not pack`)
  })

  it('is named as it is found: below the package', async () => {
    for (const file of globSync('{src,packages/*/src}/**/*.{ts,tsx}', { cwd: root }))
      assert.not.match(withoutComments(await read(file)), /(?<!escapement\/)\bdocs\/\w+\.md\b/, file)
  })
})

import { readFile } from 'node:fs/promises'
import { assert, describe } from '../support/suite.ts'

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly resolved?: string; readonly optionalDependencies?: Readonly<Record<string, string>> }>
  >
}

const read = async (path: string): Promise<Lock> =>
  JSON.parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')) as Lock

for (const path of [
  'package-lock.json',
  'test/bundlers/package-lock.json',
  'test/judges/package-lock.json',
  'packages/acp/test/foreign/package-lock.json',
  'tools/bench/peers/package-lock.json',
  'tools/site/package-lock.json',
])
  describe(path, (it) => {
    // npm drops an optional package that its registry does not have; elsewhere `npm ci` then refuses the lock.
    it('has the packages of every platform, so that npm ci works on each', async () => {
      const { packages } = await read(path)
      const missing = Object.entries(packages).flatMap(([folder, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).filter(
          (name) => !(`node_modules/${name}` in packages) && !(`${folder}/node_modules/${name}` in packages),
        ),
      )
      assert.equal(missing, [])
    })

    it('names no registry, so that everybody uses their own', async () => {
      const { packages } = await read(path)
      const named = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)
      assert.equal(
        named.map(([folder]) => folder),
        [],
      )
    })
  })

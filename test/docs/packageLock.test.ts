import { readFile } from 'node:fs/promises'
import { assert, describe } from '../support/suite.ts'

interface Lock {
  readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>
}

describe('package-lock.json', (it) => {
  // npm drops an optional package that its registry does not have; elsewhere `npm ci` then refuses the lock.
  it('has the packages of every platform, so that npm ci works on each', async () => {
    const lock = JSON.parse(await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')) as Lock
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
      ),
    )
    assert.equal(missing, [])
  })
})

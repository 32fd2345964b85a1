import { readFile } from 'node:fs/promises'
import { version } from '../../src/protocol/version.ts'
import { assert, describe } from '../support/suite.ts'

describe('the version', (it) => {
  for (const file of ['package.json', 'package-lock.json'])
    it(`is that of ${file}`, async () => {
      const manifest = JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')) as {
        version: string
      }
      assert.is(manifest.version, version)
    })
})

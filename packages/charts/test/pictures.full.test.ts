import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pictures } from '../../../scripts/pictures.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'pictures')

describe('the pictures of the documentation', (it) => {
  it('are what scripts/pictures.ts makes of the machines', { timeoutMs: 30_000 }, async () => {
    // Pictures of the page are made by a browser, and look a little different each time.
    const drawn = (await readdir(folder)).filter((name) => name !== 'inspector')
    assert.equal(drawn.toSorted(), Object.keys(pictures).toSorted())
    for (const [name, draw] of Object.entries(pictures))
      assert.ok(
        (await readFile(join(folder, name), 'utf8')) === (await draw()),
        `${name}: run node scripts/pictures.ts`,
      )
  })
})

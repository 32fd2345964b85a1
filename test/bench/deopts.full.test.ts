import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { assert, describe } from '../support/suite.ts'

const script = join(import.meta.dirname, '../../tools/bench/deopts.ts')

describe('optimised code', (it) => {
  it('is not taken back over and over while an agent works', { timeoutMs: 120_000 }, async ({ signal }) => {
    const told = await promisify(execFile)(
      process.execPath,
      [script, '--turns', '20000', '--collections', '0', '--processes', '1'],
      { signal },
    )
    const count = Number(/by process: (?<count>\d+)/.exec(told.stdout)?.groups?.['count'])
    // Where lists of calls were of two kinds it was 37, and about 6 since.
    assert.ok(count <= 14, told.stdout)
  })
})

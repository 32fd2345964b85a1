import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plant, readFaults } from '../../tools/faults/mutate.ts'
import { assert, describe } from '../support/suite.ts'
import { testFiles } from '../support/testFiles.ts'

const root = join(import.meta.dirname, '../..')
const faults = await readFaults()

describe('the list of planted faults', (it) => {
  it('names each fault once', () => {
    const ids = faults.map(({ id }) => id)
    assert.equal(ids, [...new Set(ids)])
  })
  it('finds the place of each in the code', () => {
    const lost = faults.flatMap((fault) => {
      try {
        plant(readFileSync(join(root, fault.file), 'utf8'), fault)
        return []
      } catch (thrown) {
        return [String(thrown)]
      }
    })
    assert.equal(lost, [])
  })
  it('names tests that exist', () => {
    const tests = testFiles(root)
    for (const { id, tests: filters } of faults) {
      assert.ok(filters.length > 0, `${id} names no test`)
      for (const filter of filters)
        assert.ok(
          tests.some((test) => test.includes(filter)),
          `${id}: ${filter}`,
        )
    }
  })
})

describe('planting a fault', (it) => {
  const fault = { id: 'x-1', file: 'a.ts', what: '', from: 'a && b', to: 'a $& b', tests: [] }
  it('changes its place and nothing else', () => assert.is(plant('if (a && b) c', fault), 'if (a $& b) c'))
  it('is refused when the place is gone', () =>
    assert.throws(() => plant('if (a) c', fault), /x-1: its text occurs 0 times in a\.ts/))
  it('is refused when there are two such places', () =>
    assert.throws(() => plant('a && b; a && b', fault), /x-1: its text occurs 2 times/))
})

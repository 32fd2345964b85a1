import { KnownIds } from '../../src/log/fold.ts'
import { assert, describe } from '../support/suite.ts'

const again = (ids: KnownIds): KnownIds => new KnownIds(JSON.parse(JSON.stringify(ids.keep())))

describe('known ids', (it) => {
  it('are found again after they were kept, whatever is in them, and no parts of them', () => {
    const all = ['a', 'call_1', 'call_11', '', ' ', 'two words', ' b', 'c ', 'ü\n"x"', '\\']
    let ids = new KnownIds()
    for (const id of all) {
      assert.is(ids.has(id), false, JSON.stringify(id))
      ids.add(id)
      ids = again(ids)
      assert.ok(ids.has(id), JSON.stringify(id))
    }
    for (const id of all) assert.ok(ids.has(id), JSON.stringify(id))
    for (const id of ['call', 'all_1', 'two', 'words', 'b', 'c', '_', '  ', 'call_1 call_11'])
      assert.is(ids.has(id), false, id)
  })

  it('are each kept once, and one that was looked for in vain is found when it has come', () => {
    let ids = new KnownIds()
    ids.add('a')
    ids = again(ids)
    for (let probe = 0; probe < 1_000; probe += 1) assert.is(ids.has(`probe${probe}`), false)
    assert.is(ids.has('b'), false)
    for (const id of ['b', 'a', 'b']) ids.add(id)
    assert.ok(ids.has('b'))
    assert.equal(ids.keep(), { joined: ' a b ', others: [] })
  })
})

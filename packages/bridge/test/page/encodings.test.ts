import { encodingFor } from '../../src/page/encodings.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const both = ['br', 'gzip'] as const

describe('how a file is sent', (it) => {
  for (const [accepted, expected] of [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['X-GZIP', 'gzip'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['*', 'br'],
    ['*;q=0.1, br;q=0', 'gzip'],
    ['identity, br;q=0.5', 'identity'],
    ['identity;q=0.5, br', 'br'],
    ['identity;q=0', undefined],
    ['*;q=0', undefined],
    ['*;q=0, identity', 'identity'],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['br;q=2, gzip;q=x', 'identity'],
    [' br ; Q=1.000 , ', 'br'],
    [';;;,,;q=1', 'identity'],
    ['deflate', 'identity'],
  ] as const)
    it(`is ${expected ?? 'refused'} where "${accepted ?? 'nothing'}" is accepted`, () => {
      assert.is(encodingFor(accepted, both), expected)
    })

  it('is what is there', () => {
    assert.is(encodingFor('br, gzip;q=0.1', ['gzip']), 'gzip')
    assert.is(encodingFor('br, gzip', []), 'identity')
    assert.is(encodingFor('gzip, identity;q=0', []), undefined)
  })
})

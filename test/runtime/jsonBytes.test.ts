import * as fc from 'fast-check'
import { jsonBytes } from '../../src/runtime/agents/sharedState.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

const readAgain = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

describe('JSON as bytes', (it) => {
  it('is read as what was written, whatever characters it has, and however many', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, fc.nat(400), (some, padding) => {
        const value = { [some]: [some, 'x'.repeat(padding)] }
        assert.equal(readAgain(jsonBytes(JSON.stringify(value))), value)
      }),
      { numRuns: someRuns(300) },
    )
  })

  it('is ASCII where few characters are not, and no longer than it need be where many are', () => {
    const few = JSON.stringify(`${'a'.repeat(200)} é – 漢 🙂 \u2028`)
    const bytes = jsonBytes(few)
    assert.ok(bytes.every((byte) => byte < 0x80))
    assert.is(readAgain(bytes), JSON.parse(few))
    const many = JSON.stringify('漢字'.repeat(100))
    assert.equal(jsonBytes(many), new TextEncoder().encode(many))
  })
})

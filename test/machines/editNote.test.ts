import { editNote } from '../../src/machines/callEnds.ts'
import { assert, describe } from '../support/suite.ts'

describe('the note of an edited call', (it) => {
  it('is cut between whole signs', () => {
    for (const length of [990, 991]) {
      const { text } = editNote({ input: { a: `${'x'.repeat(length)}😀😀😀😀😀😀` } }) as { readonly text: string }
      assert.ok(text.endsWith('…') && text.isWellFormed(), text.slice(-10))
    }
  })
})

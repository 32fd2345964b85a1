import { denialReason, denialText } from '../../src/protocol/text/denial.ts'
import { assert, describe } from '../support/suite.ts'

describe('what a model reads of a denied call', (it) => {
  it('names the user, unless nobody could be asked', () => {
    assert.is(denialText(), 'Denied by the user: it was not run.')
    assert.is(denialText('not today'), 'Denied by the user: it was not run. Reason: not today')
    assert.is(denialText('nobody can be asked here'), 'Denied: it was not run. Reason: nobody can be asked here')
  })

  it('gives its reason back', () => {
    for (const reason of ['', 'not today', 'Nobody can be asked: this is an evaluation.'])
      assert.is(denialReason(denialText(reason)), reason)
    assert.is(denialReason('the text of a tool'), 'the text of a tool')
  })
})

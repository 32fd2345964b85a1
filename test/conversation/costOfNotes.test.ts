import { RequestAssembler } from '../../src/conversation/assembleRequest.ts'
import { BrakeLog, notesIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

/** A conversation of so many steps, each with a name of its own. */
function worked(steps: number): BrakeLog {
  const log = new BrakeLog()
  log.user('the task')
  for (let i = 0; i < steps; i++) log.step([{ output: `name${i}Thing ${'x '.repeat(200)}` }])
  return log
}

describe('what notes cost', (it) => {
  it('the index is made once for a request, however many steps are hidden', () => {
    const log = worked(60)
    const { conversation } = log
    const assembler = new RequestAssembler(conversation, log.frame)
    log.fold({ indexTokens: 200 }, true)
    const { hidden } = conversation.annotations!
    let times = 0
    const index = hidden.index.bind(hidden)
    hidden.index = (subject) => {
      times += 1
      return index(subject)
    }
    const { messages } = assembler.assemble(log.turnIndex).request
    assert.is(notesIn(messages).length, 2)
    assert.is(times, 1)
    log.revert(conversation.steps()[20]!.endId)
    times = 0
    assert.equal(
      assembler.assemble(log.turnIndex).request.messages,
      log.assemble().request.messages,
      'a revert changes the index',
    )
    assert.ok(times <= 2)
  })
})

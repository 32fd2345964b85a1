import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { Resources } from '../../src/runtime/agents/resources.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** Something that is open, and how often it was closed. */
const open = (end: () => Promise<void> = async () => {}) => {
  const one = {
    closed: 0,
    close: () => {
      one.closed += 1
      return end()
    },
  }
  return one
}

const warned: [object, string | undefined][] = []
const logger = { warn: (fields: object, text?: string) => void warned.push([fields, text]) } as never

describe('what tools have opened', (it) => {
  it('is closed with its agent, or with the runtime, and once', async () => {
    const resources = new Resources({ clock: simulatedClock(), clean: (text) => text })
    const [mine, theirs, shared] = [open(), open(), open()]
    assert.equal(
      [resources.note(mine, 'a'), resources.note(mine, 'a'), resources.note(theirs, 'b')],
      [true, false, true],
    )
    assert.equal([resources.note(shared), resources.note(shared)], [true, false])
    await resources.leave('a')
    await resources.leave('a')
    assert.equal([mine.closed, theirs.closed, shared.closed], [1, 0, 0])
    await resources.close()
    await resources.close()
    assert.equal([mine.closed, theirs.closed, shared.closed], [1, 1, 1])
    // Another agent, or the same in a later life, may open it again.
    assert.is(resources.note(mine, 'a'), true)
  })

  it('holds nobody up when it does not close, and is told of', async () => {
    const clock = simulatedClock()
    const resources = new Resources({ clock, logger, clean: (text) => text.replace('secret', '***') })
    const thrown = open(() => {
      throw new Error('a secret fault')
    })
    resources.note(thrown)
    resources.note(
      open(() => new Promise(() => {})),
      'a',
    )
    const closing = resources.close()
    await quiet()
    await clock.advance(10_000)
    await closing
    assert.equal(warned, [
      [{ error: 'a *** fault' }, 'something that a tool opened could not be closed'],
      [{ agentId: 'a' }, 'something that a tool opened did not close within 10000 ms'],
    ])
  })
})

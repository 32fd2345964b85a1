import { textOf } from '../../src/protocol/messages.ts'
import { mayBeTainted, repeatsTools } from '../../packages/tools/src/remembering/taint.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const lesson = 'npm run build needs four gigabytes of memory'
const filler = (chars: number): string => '0123456789'.repeat(chars / 10)

function heard(...outputs: readonly string[]): boolean {
  const log = new BrakeLog()
  log.user('the task')
  for (const output of outputs) log.step([{ output }])
  return repeatsTools(log, lesson)
}

describe('words of which it is asked where they come from', (it) => {
  it('are those of a tool that said them, in whatever order and spelling of signs', () => {
    assert.ok(heard('nothing', `It says: ${lesson.toUpperCase()}!`, 'nothing'))
    assert.not.ok(heard('nothing', 'something else'))
  })

  it('are not known to be one’s own where tools said more than is looked at, in one output or in many', () => {
    assert.not.ok(heard(filler(1_990_000), 'short'))
    assert.ok(heard(filler(2_000_000), 'short'))
    assert.ok(heard(filler(3_000_000)), 'its end was not looked at')
    assert.ok(heard(...Array.from({ length: 5 }, () => filler(500_000))))
  })

  it('are one’s own up to the node at which they were said, and by what is known to come from people', () => {
    const log = new BrakeLog()
    log.user('the task')
    log.step([{ output: 'nothing' }, { output: lesson }])
    const result = log.conversation
      .log()
      .find(({ message }) => message.role === 'toolResult' && textOf(message.content) === lesson)!.id
    for (const [excuse, expected] of [
      [{}, true],
      [{ before: result }, false],
      [{ before: result + 1 }, true],
      [{ known: lesson }, false],
      [{ known: 'npm run build' }, true],
    ] as const)
      assert.is(repeatsTools(log, lesson, excuse), expected, JSON.stringify(excuse))
    assert.is(repeatsTools(log, ''), false)
  })

  it('are not one’s own in a sub-agent, whose task another model wrote, though no tool has said anything', () => {
    const log = new BrakeLog()
    log.user('the task')
    assert.is(mayBeTainted({ path: [], conversation: log.conversation }), false)
    assert.is(mayBeTainted({ path: ['root'], conversation: log.conversation }), true)
  })
})

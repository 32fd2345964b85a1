import { planHeld } from '../../src/conversation/brakes/revert/heldRevert.ts'
import { formatNodeId } from '../../src/protocol/ids.ts'
import { assert, describe } from '../support/suite.ts'
import { BrakeLog } from '../support/brakeLog.ts'

/** A revert to this step that was held back, asked for in the newest step, as it would be carried out now. */
function heldIn(log: BrakeLog, step: number) {
  const { conversation, policy } = log
  const request = { id: 'r', by: 'model', category: 'completion', step: formatNodeId(step), summary: 'Done.' } as const
  const asked = conversation.path.at(-1)
  return (at = asked) => planHeld(conversation, request, policy, at)
}

describe('a revert that was held back', (it) => {
  it('hides the steps from its target to the one that asked, wherever the trunk has gone since', () => {
    const log = new BrakeLog()
    log.user('go')
    const [first, second] = [log.step([{}]), log.step([{}])]
    const plan = heldIn(log, 1)
    log.step([{}])
    const now = plan()
    assert.equal(typeof now === 'string' ? now : now.steps, [first - 1, second - 1])
  })

  it('is refused where its target or the step that asked is not on the trunk any more', () => {
    const log = new BrakeLog()
    log.user('go')
    const gone = log.step([{}])
    log.revert('n1')
    log.step([{}])
    assert.match(heldIn(log, gone)() as string, /no longer on the trunk/)
    const { conversation, policy } = log
    const request = { id: 'r', by: 'model', category: 'completion', step: 'n1', summary: 'Done.' } as const
    assert.match(planHeld(conversation, request, policy, undefined) as string, /no longer on the trunk/)
  })
})

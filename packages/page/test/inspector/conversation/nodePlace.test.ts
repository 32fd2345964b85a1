import { rebuildConversation } from '../../../../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { placeOf } from '../../../src/inspector/model/conversation/nodePlace.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

/** Places of all messages after some of the records. */
function placesIn(records: readonly LogRecord[]): Record<string, readonly number[]> {
  const conversation = rebuildConversation(records)
  return Object.fromEntries(
    (['trunk', 'open', 'abandoned'] as const).map((place) => [
      place,
      conversation.log().flatMap((node) => (placeOf(conversation, node) === place ? [node.id] : [])),
    ]),
  )
}

describe('the place of a message', (it) => {
  it('is open while its step lacks results, then the trunk, then a branch once the step is reverted', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ output: 'one' }, { output: 'two' }])
    const records = [...log.records]
    const ends = records.flatMap(({ type }, index) => (type === 'tool.end' ? [index] : []))
    assert.is(ends.length, 2)
    assert.equal(placesIn(records.slice(0, ends[0]! + 1)), { trunk: [1], open: [2, 3], abandoned: [] })
    assert.equal(placesIn(records), { trunk: [1, 2, 3, 4], open: [], abandoned: [] })
    log.revert('n1')
    assert.equal(placesIn([...log.records]), { trunk: [1], open: [], abandoned: [2, 3, 4] })
  })
})

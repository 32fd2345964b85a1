import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import { eventText } from '../../../src/inspector/model/events/eventWords.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('the rows of copies', (it) => {
  it('stand at the end of the trunk, say what they are copies of, and have the calls that were copied', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'look', input: { at: 1 }, output: 'seen' }, { name: 'prun' }], { thinking: 'hm' })
    log.reply('words')
    log.revert('n1')
    log.graft('n2', 'n5', 'n1')
    const graph = new GraphRows()
    for (const record of log.records) graph.apply(record)
    const copies = graph.rows.filter((row) => ('nodeId' in row ? row.nodeId > 5 : false))
    assert.equal(
      copies.map((row) => [row.type, row.lane, 'graftedFrom' in row ? row.graftedFrom : undefined]),
      [
        ['message', 0, 2],
        ['call', 0, undefined],
        ['message', 0, 5],
      ],
    )
    const [reply, call] = copies
    assert.equal(reply?.type === 'message' && [reply.calls, reply.message.content.length], [1, 1])
    assert.equal(call?.type === 'call' && [call.name, call.status, call.stepId, call.result?.isError], [
      'look',
      'ended',
      6,
      false,
    ])
    const notice = graph.rows.at(-1)
    assert.is(
      notice?.type === 'notice' && notice.text,
      'Graft refused: n1 is a message of the user, and those are never repeated',
    )
    const [asked, applied] = log.records.slice(-2).map((record) => eventText(record as unknown as AgentEvent))
    assert.is(asked, 'n2, n5, n1, by the model')
    assert.match(applied ?? '', /^n2–n3 as n6–n7, n5 as n8; graft refused: n1/)
  })
})

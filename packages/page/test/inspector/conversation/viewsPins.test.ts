import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('the rows of pinned steps', (it) => {
  it('say so as long as they are, a summary too, and a refusal says why', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let at = 0; at < 6; at++) log.step([{ output: 'x'.repeat(200) }])
    const graph = new GraphRows()
    let taken = 0
    const pinned = (): number[] => {
      for (const record of log.records.slice(taken)) graph.apply(record)
      taken = log.records.length
      return graph.rows.flatMap((row) =>
        (row.type === 'message' || row.type === 'fold') && row.isPinned === true
          ? [row.type === 'fold' ? row.overlay.nodeId : row.nodeId]
          : [],
      )
    }
    log.pin('n13')
    log.pin('n1')
    assert.equal(pinned(), [1, 12])
    log.pin('n1', false)
    const summary = log.compact({ recent: 2 })!
    log.pin(summary)
    log.pin('n5')
    assert.equal(pinned(), [summary, 12])
    const notice = graph.rows.at(-1)
    assert.is(notice?.type === 'notice' && notice.text, `Pin refused: n5 was compacted; the summary is n${summary}`)
  })
})

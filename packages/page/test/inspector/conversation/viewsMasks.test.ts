import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('the rows of masked steps', (it) => {
  it('mark results that a mask hides, and leave their step as it is shown', () => {
    const log = new BrakeLog()
    log.user('go')
    const long = 'x '.repeat(80)
    log.step([
      { output: long },
      { output: 'short' },
      { output: `paid ${long}`, isIrreversible: true },
      { output: long, denied: long },
    ])
    log.step([{ output: long }])
    log.prune({ steps: ['n2'], mask: true })
    const graph = new GraphRows()
    for (const record of log.records) graph.apply(record)
    const masked = graph.rows.flatMap((row) => (row.type === 'call' && row.isMasked === true ? [row.nodeId] : []))
    // The line and the outcome of the irreversible one take more than it has.
    assert.equal(masked, [3])
    const [memo] = graph.rows.filter((row) => row.type === 'memo')
    assert.equal([memo?.outcome.masked, memo?.memo], [true, undefined])
    assert.is(graph.row(2)?.pruned, undefined)
    assert.equal(
      graph.rows.slice(0, 3).map(({ type }) => type),
      ['message', 'memo', 'message'],
    )
  })

  it('lose their marks, and so do hidden ones, when they are shown again', () => {
    const log = new BrakeLog()
    log.user('go')
    const long = 'x '.repeat(80)
    for (const _ of [1, 2, 3]) log.step([{ output: long }])
    const asShown = graphOf(log)
    log.prune({ steps: ['n2'], mask: true })
    log.prune({ steps: ['n4'], memo: 'gone' })
    const hidden = graphOf(log)
    assert.is(hidden.rows.filter(({ type }) => type === 'memo').length, 2)
    assert.ok(hidden.row(4)?.pruned !== undefined)
    log.show('n2', 'n4')
    const again = graphOf(log)
    const plain = (graph: GraphRows) =>
      graph.rows.filter(({ type }) => type !== 'notice').map((row) => ({ ...row, key: '', version: 0 }))
    assert.equal(plain(again), plain(asShown))
    const [notice] = again.rows.filter((row) => row.type === 'notice')
    assert.is(notice?.text, 'Shown to the model again: n2, n4')
  })
})

function graphOf(log: BrakeLog): GraphRows {
  const graph = new GraphRows()
  for (const record of log.records) graph.apply(record)
  return graph
}

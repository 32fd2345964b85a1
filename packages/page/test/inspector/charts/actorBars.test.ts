import type { SequenceKind, SequenceStep } from '../../../../charts/src/actorSequence.ts'
import { actorBars, laneWidthFor } from '../../../src/inspector/model/charts/actorBars.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const step = (from: string, kind: SequenceKind, to: string): SequenceStep => ({
  from,
  to,
  kind,
  text: '',
  time: 0,
  agentId: from,
  seq: 1,
})

/** Bars as text: `lead<` begins in this row, `lead>` ends there. */
const barsOf = (...steps: readonly SequenceStep[]): string[] =>
  actorBars(steps, '').map((parts) =>
    parts.map(({ id, begins, ends }) => `${id}${begins ? '<' : ''}${ends ? '>' : ''}`).join(' '),
  )

describe('the bars of activity in a sequence', (it) => {
  it('go from what an agent is told to the end that it tells', () => {
    assert.equal(
      barsOf(
        step('', 'said', 'lead'),
        step('lead', 'call', 'a'),
        step('lead', 'call', 'b'),
        step('b', 'asks', ''),
        step('a', 'result', 'lead'),
        step('b', 'failure', 'lead'),
        step('lead', 'result', ''),
        step('', 'said', 'lead'),
      ),
      ['lead<', 'lead a<', 'lead a b<', 'lead a b', 'lead a> b', 'lead b>', 'lead>', 'lead<'],
    )
  })

  it('begin once, and end only where something had begun', () => {
    assert.equal(barsOf(step('a', 'result', ''), step('', 'said', 'a'), step('', 'said', 'a')), ['', 'a<', 'a'])
  })
})

describe('the lanes of a sequence', (it) => {
  it('share the room, and are neither too narrow to read nor wider than their texts', () => {
    assert.equal(
      [laneWidthFor(800, 8), laneWidthFor(800, 20), laneWidthFor(800, 2), laneWidthFor(800, 0)],
      [100, 90, 220, 220],
    )
  })
})

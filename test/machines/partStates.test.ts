import { partFolding, type PartState } from '../../src/machines/partStates.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { RecordDraft } from '../../src/protocol/records.ts'
import { assert, describe } from '../support/suite.ts'
import { AgentScript } from './agentScript.ts'
import { agentIn, places } from './everyState.ts'

const extracted = { type: 'memory.extracted', key: 'a1/extract', kept: [], costUsd: 0.25 } as const

describe('the states of parts', (it) => {
  const counting: PartState<{ readonly count: number; readonly turns: number }> = {
    initial: { count: 0, turns: 0 },
    on: {
      'memory.extracted': (state) => ({ ...state, count: state.count + 1 }),
      'turn.start': (state) => ({ ...state, turns: state.turns + 1 }),
      'agent.stopped': () => undefined,
    },
  }
  const fold = partFolding({ counting }, (type) => type === 'memory.extracted')
  const record = (type: RecordDraft['type']): RecordDraft => ({ type }) as RecordDraft
  const folded = (...types: RecordDraft['type'][]): unknown =>
    types.reduce((state: object, type) => fold(state, record(type), { now: 1 }), {})

  it('begin with the first record of the part, and end where a step says so', () => {
    assert.equal(folded('turn.start'), {})
    assert.equal(folded('turn.start', 'memory.extracted', 'turn.start'), { counting: { count: 1, turns: 1 } })
    assert.equal(folded('memory.extracted', 'agent.stopped'), {})
  })

  it('stay the same object when no part has a step for the record', () => {
    const state = { counting: { count: 1, turns: 0 } }
    assert.is(fold(state, record('run.start'), { now: 1 }), state)
    const none = {}
    assert.is(fold(none, record('turn.start'), { now: 1 }), none)
    const next = fold(state, record('turn.start'), { now: 1 })
    assert.equal([state.counting.turns, next.counting.turns], [0, 1])
  })
})

describe('records of parts', (it) => {
  it('are made in any state, in the run and turn under way, and leave the chart where it was', () => {
    for (const place of places.filter((one) => one !== 'stopped')) {
      const script = agentIn(place)
      const { state } = script
      const [before, under] = [script.driver.records.length, [...script.underway]]
      script.driver.send({ type: 'record', records: [extracted, extracted], at: 77 })
      assert.equal(
        [script.types(before), script.state, script.underway],
        [['memory.extracted', 'memory.extracted'], state, under],
      )
      const [last] = script.driver.recordsOf('memory.extracted').slice(-1)
      assert.is(last!.seq, script.driver.context.seq)
    }
  })

  it('count what they cost on the run', () => {
    const script = new AgentScript()
    script.prompt('go')
    script.driver.send({ type: 'record', records: [extracted], at: 5 })
    assert.is(script.driver.context.run?.costUsd, 0.25)
    assert.is(rebuildContext(script.driver.records).run?.costUsd, 0.25)
  })
})

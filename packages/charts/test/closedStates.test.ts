import { setup } from 'xstate'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { chartDrawing } from '../src/chartDrawing.ts'
import { chartModel } from '../src/chartModel.ts'
import { closedAtFirst, holdingStates, seenState, withClosed } from '../src/closedStates.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const doors = setup({}).createMachine({
  id: 'doors',
  initial: 'shut',
  states: {
    shut: { on: { open: 'ajar.wide' } },
    ajar: {
      initial: 'narrow',
      on: { stay: '.narrow', again: 'ajar' },
      states: {
        narrow: { on: { push: 'wide' } },
        wide: { initial: 'held', on: { close: '#doors.shut' }, states: { held: { on: { slip: '#doors.shut' } } } },
      },
    },
  },
})

describe('a chart with states closed', (it) => {
  const model = chartModel(doors, { active: ['ajar.wide.held'] })
  const edgesOf = (closed: readonly string[]): string[] =>
    withClosed(model, closed).edges.map(({ from, event, to }) => `${from} ${event} ${to}`)

  it('knows the states that hold others, and which hold many', () => {
    assert.equal(holdingStates(model), [
      { id: 'ajar', label: 'ajar', holds: 3 },
      { id: 'ajar.wide', label: 'wide', holds: 1 },
    ])
    assert.equal(closedAtFirst(model), [])
    assert.equal(closedAtFirst(chartModel(agentMachine)), ['draining'])
  })

  it('leaves out what is in them, and leads to and from them', () => {
    const { nodes, active } = withClosed(model, ['ajar'])
    assert.equal(
      nodes.map(({ id, kind }) => `${id} ${kind}`),
      ['doors compound', '(initial) doors initial', 'shut atomic', 'ajar atomic'],
    )
    assert.equal(active, ['ajar'])
    assert.equal(edgesOf(['ajar']), [
      '(initial) doors  shut',
      'shut open ajar',
      'ajar stay ajar',
      'ajar again ajar',
      'ajar close shut',
      'ajar slip shut',
    ])
  })

  it('is the same whatever is closed in a closed one, and in any order', () => {
    assert.equal(edgesOf(['ajar.wide', 'ajar']), edgesOf(['ajar']))
    assert.equal(withClosed(model, ['ajar', 'ajar.wide']), withClosed(model, ['ajar']))
    assert.is(withClosed(model, ['shut', 'nothing']), model)
    assert.equal(
      [[], ['ajar.wide'], ['ajar.wide', 'ajar']].map((closed) =>
        seenState('ajar.wide.held', withClosed(model, closed)),
      ),
      ['ajar.wide.held', 'ajar.wide', 'ajar'],
    )
    assert.is(seenState('', model), '')
  })

  it('can be drawn, each of an agent too', () => {
    const agent = chartModel(agentMachine)
    for (const { id } of holdingStates(agent)) {
      const { nodes, arrows } = chartDrawing(withClosed(agent, [id]))
      const ids = new Set(nodes.map((node) => node.id))
      assert.equal(
        arrows.filter(({ from, to }) => !ids.has(from) || !ids.has(to)),
        [],
      )
      assert.ok(ids.has(id) && !nodes.some((node) => node.id.startsWith(`${id}.`)))
    }
  })
})

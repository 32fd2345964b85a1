import { defineAgent, policyModel } from '../../../src/index.ts'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { chart } from '../src/chart.ts'
import { overviewDrawing } from '../src/overviewDrawing.ts'
import { overviewModel } from '../src/overviewModel.ts'

const agent = defineAgent({ name: 'coder', model: policyModel(() => 'Done.'), braking: { revert: true } })

describe('the overview of an agent as Mermaid', (it) => {
  it('has the arrows of the picture and one for all stops, and writes the other ways into the states', () => {
    const text = chart(agent, { detail: 'overview' })
    const { arrows, boxes } = overviewDrawing(overviewModel(chart(agent, { format: 'json' })))
    const drawn = [...text.matchAll(/^ {2}(\w+) --> (\w+)/gm)].map(([, from, to]) => `${from} → ${to}`)
    assert.equal(drawn, [...arrows.map(({ from, to }) => `${from} → ${to}`), 'any → stops'])
    assert.ok(drawn.length <= 15, `${drawn.length} arrows are no overview`)
    for (const { id } of boxes) assert.match(text, ` ${id} : ${id}\n`)
    assert.match(text, '  draining : brakes open#58; revert, prune\n')
    assert.match(text, '  replying : also #8594; idle, compacting\n')
  })

  it('lights the active state, closed states too, and goes the way that is asked for', () => {
    const text = chart(agentMachine, { detail: 'overview', active: ['replying.streaming'], direction: 'right' })
    assert.match(text, /classDef activeState .*\n {2}class replying activeState\n/)
    assert.match(text, '  direction LR\n')
    assert.match(text, '  draining : brakes#58; revert, prune, fold, stall, policies\n')
  })
})

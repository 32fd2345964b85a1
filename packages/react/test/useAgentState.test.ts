import { createElement as h, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { z } from 'zod'
import { defineAgent, policyModel } from '../../../src/index.ts'
import { AgentProvider, useAgentState, type UsedState } from '../../../src/react.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { render } from './rendering.ts'

const schema = z.object({ title: z.string().max(9) })
const planner = defineAgent({
  name: 'planner',
  model: policyModel(() => 'Good day.'),
  state: { schema, initial: { title: '-' } },
})
type Used = UsedState<z.output<typeof schema>>

describe('useAgentState', (it) => {
  it('shows the state, a change at once, and the state of before when that is refused', async (context) => {
    const { connect, runtime } = await serveAgents(context, [planner])
    const agent = await runtime.spawn(planner, { id: 'a' })
    let used!: Used
    const drawn: string[] = []
    function Title(): ReactNode {
      used = useAgentState<typeof planner>('a')
      drawn.push(used[0]?.title ?? 'loading')
      return h('b', null, drawn.at(-1))
    }
    const { until, text } = await render(context, connect(), h(Title), { strict: true })
    assert.is(text(), 'loading')
    await until(() => text() === '-')
    const changed = used[1]((draft) => {
      draft.title = 'mine'
    })
    await until(() => text() === 'mine')
    assert.equal(await changed, { title: 'mine' })
    assert.equal(agent.appState, { title: 'mine' })
    await agent.updateState(() => ({ title: 'theirs' }))
    await until(() => text() === 'theirs')
    drawn.length = 0
    await assert.rejects(
      used[1](() => ({ title: 'much too long' })),
      withCode('STATE_INVALID', 'title'),
    )
    await until(() => text() === 'theirs')
    assert.ok(drawn.includes('much too long'), 'it was seen before it was refused')
  })

  it('is undefined without a state, and where nothing is connected', async (context) => {
    const plain = defineAgent({ name: 'plain', model: policyModel(() => 'x') })
    const { connect, runtime } = await serveAgents(context, [plain])
    await runtime.spawn(plain, { id: 'a' })
    let used!: UsedState<undefined>
    function Title(): ReactNode {
      used = useAgentState<typeof plain>('a')
      return h('b', null, String(used[0]))
    }
    const { until, text } = await render(context, connect(), h(Title))
    await until(() => text() === 'undefined')
    await assert.rejects(
      used[1](() => undefined),
      withCode('STATE_OFF'),
    )
    assert.match(renderToString(h(AgentProvider, { client: null }, h(Title))), /undefined/)
  })
})

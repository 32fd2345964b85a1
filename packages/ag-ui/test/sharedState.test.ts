import { EventType } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent, policyModel } from '../../../src/index.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { stateChange, type ShownState } from '../src/threadState.ts'
import { ofType, say, serveFrontEnds } from './agUiHarness.ts'

const schema = z.object({ title: z.string(), steps: z.array(z.string()) })
const planner = () =>
  defineAgent({
    name: 'planner',
    state: { schema, initial: { title: '', steps: [] } },
    tools: [
      tool('note', (_, { state }) => {
        state.of(schema).update((plan) => void plan.steps.push('noted'))
      }),
    ],
    model: policyModel(({ messages }) =>
      messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'note', input: {} }] } : 'done',
    ),
  })

describe('the state of an AG-UI thread', (it) => {
  it('is that of the agent, with what is known of the thread beside it, and is changed by its client', async (context) => {
    const { agent: dial, runtime } = await serveFrontEnds(context, [planner()])
    const agent = dial()
    const events = await say(agent, 'hi')
    const local = runtime.agent('thread')!
    const [snapshot] = ofType(events, EventType.STATE_SNAPSHOT)
    assert.equal([snapshot!.snapshot.title, snapshot!.snapshot['_agent'].agentId], ['', 'thread'])
    const { _agent, ...own } = agent.state
    assert.equal(own, { title: '', steps: ['noted'] })
    assert.equal([_agent.state, _agent.stateVersion], ['idle', local.stateVersion])
    assert.ok(ofType(events, EventType.STATE_DELTA).some(({ delta }) => delta.some(({ path }) => path === '/steps/0')))
    await say(agent, 'as it is')
    assert.equal((local.appState as z.output<typeof schema>).steps.length, 2)
    agent.state = { ...agent.state, title: 'mine' }
    await say(agent, 'more')
    assert.equal(local.appState, { title: 'mine', steps: ['noted', 'noted', 'noted'] })
    assert.is(agent.state.title, 'mine')
    const changes: string[] = []
    for await (const record of local.readLog()) if (record.type === 'state.patched') changes.push(record.by)
    assert.equal(changes, ['tool', 'tool', 'person', 'tool'])
  })

  it('is as it was for an agent without state', async (context) => {
    const { agent: dial } = await serveFrontEnds(context, [
      defineAgent({ name: 'plain', model: policyModel(() => 'hi') }),
    ])
    const agent = dial()
    await say(agent, 'hi')
    assert.is(agent.state.agentId, 'thread')
    assert.not.ok('_agent' in agent.state)
  })

  it('changes as a whole where its parts do not tell', () => {
    const plain = { agentId: 'a', state: 'idle' } as unknown as ShownState
    const shared = (title: unknown, state: string) =>
      ({ title, _agent: { agentId: 'a', state } }) as unknown as ShownState
    assert.equal(stateChange(shared('x', 'idle'), shared('y', 'replying')), [
      { op: 'replace', path: '/title', value: 'y' },
      { op: 'replace', path: '/_agent/state', value: 'replying' },
    ])
    assert.equal(stateChange(shared('x', 'idle'), shared('x', 'idle')), [])
    assert.equal(stateChange(plain, shared('x', 'idle')), [{ op: 'replace', path: '', value: shared('x', 'idle') }])
  })
})

import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policy } from '../../../../src/actors/define/policy.ts'
import { readAnswer, snapshotShape } from '../../src/client/answers.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, lastingStore, serveAgents } from './bridgeHarness.ts'

const never = { name: 'never()', fires: () => null }
const tidy = policy({
  name: 'tidy',
  when: never,
  decide: { name: 'first()', decide: () => ({ hide: ['n2'], memo: 'looked', why: 'it is old' }) },
})
const second = policy({
  name: 'second',
  when: { name: `long\n${'x'.repeat(300)}`, fires: () => null },
  decide: { name: 'none()', decide: () => null },
})
const looker = () =>
  defineAgent({
    name: 'looker',
    model: scriptedModel([calls('a', 'look'), calls('b', 'look'), 'done', 'more']),
    tools: [tool('look', () => 'seen '.repeat(50), { effects: 'none' })],
    braking: { policies: [tidy, second] },
  })
const plain = () => defineAgent({ name: 'plain', model: scriptedModel(['done']) })

describe('the policies of an agent on a server', (it) => {
  it('are listed in their order, in the process and from afar, and are asked by their names', async (context) => {
    const { connect, runtime } = await serveAgents(context, [looker(), plain()])
    const client = connect()
    const agent = await client.spawn('looker', { id: 'a1' })
    const { policies = [] } = await agent.snapshot()
    assert.equal(policies[0], { name: 'tidy', when: 'never()', decide: 'first()', keep: 'notes()' })
    assert.equal(
      [policies[1]!.name, policies[1]!.when.length, policies[1]!.when.slice(0, 7)],
      ['second', 200, 'long xx'],
    )
    assert.equal(runtime.agent('a1')!.policies, policies)
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.prompt('go').result
    await agent.brake(policies[0]!.name)
    const end = await heard.until(({ type }) => type === 'policy.end')
    assert.equal(end.type === 'policy.end' && [end.policy, end.outcome, end.reason], ['tidy', 'planned', 'it is old'])
    assert.equal((await (await client.spawn('plain', { id: 'p1' })).snapshot()).policies, [])
  })

  it('are known of an agent that does not run, if the server could wake it', async (context) => {
    const store = lastingStore()
    const before = await serveAgents(context, [looker()], { runtime: { store } })
    await before.runtime.spawn(looker(), { id: 'a1' })
    await before.runtime.close()
    const waking = await serveAgents(context, [looker()], { runtime: { store } })
    const { state, policies } = await waking.connect().agent('a1').snapshot()
    assert.equal([state, policies?.map(({ name }) => name)], ['closed', ['tidy', 'second']])
    await waking.runtime.close()
    const reading = await serveAgents(context, [plain()], { runtime: { store } })
    assert.is((await reading.connect().agent('a1').snapshot()).policies, undefined)
  })

  it('may be missing from what an older server answers', async (context) => {
    const { connect } = await serveAgents(context, [plain()])
    const { policies, ...older } = await (await connect().spawn('plain', { id: 'p1' })).snapshot()
    assert.equal(policies, [])
    assert.equal(readAnswer(snapshotShape, older), older)
  })
})

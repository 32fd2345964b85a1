import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { gate, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { openHouse } from '../../acp/test/acpHarness.ts'
import { inputOf, readEvents, serveFrontEnds } from '../../ag-ui/test/agUiHarness.ts'
import { said, serveChats } from '../../ai-sdk/test/chatHarness.ts'
import { approving, serveAgents } from './server/bridgeHarness.ts'

/** An agent with a tool that asks an incognito agent below it, which makes a call that must be approved. */
function asking(runtimeOf: () => AgentRuntime) {
  const risky = defineTool({
    name: 'risky',
    description: 'Asks first.',
    input: z.object({ what: z.string() }),
    needsApproval: true,
    run: ({ what }) => what,
  })
  const hidden = defineAgent({
    name: 'hidden',
    tools: [risky],
    model: scriptedModel([{ toolCalls: [{ name: 'risky', input: { what: 'a secret' } }] }, 'a secret']),
  })
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    input: z.object({}),
    run: async (_, { agent: { id } }) => {
      const child = await runtimeOf().agent(id)!.spawn(hidden, { incognito: true })
      child.subscribe((event) => {
        if (event.type === 'approval.requested') child.decide(event.key, 'approve')
      })
      const { text } = await child.prompt('a secret').result
      await child.stop()
      return `${text.length} characters`
    },
  })
  return defineAgent({
    name: 'asker',
    tools: [ask],
    model: scriptedModel([{ toolCalls: [{ name: 'ask', input: {}, callId: 'c1' }] }, 'told']),
  })
}

describe('an incognito agent below one that is driven from outside', (it) => {
  it('is not told to an editor, nor is the editor asked about its calls', async (context) => {
    const house = await openHouse(context, [asking(() => house.runtime)])
    const editor = await house.connect()
    await editor.say(await editor.open(), 'go')
    assert.is(editor.text(), 'told')
    assert.match(JSON.stringify(editor.updates), '8 characters')
    assert.equal(editor.asked, [])
    assert.not.match(JSON.stringify(editor.updates), /a secret|risky|hidden/)
  })

  it('is not told to a front end', async (context) => {
    const served = await serveFrontEnds(context, [asking(() => served.runtime)])
    const events = await readEvents(await served.post(inputOf()))
    assert.is(events.at(-1)!.type, 'RUN_FINISHED')
    assert.match(JSON.stringify(events), '8 characters')
    assert.not.match(JSON.stringify(events), /a secret|risky|hidden/)
  })

  it('is not told to a chat', async (context) => {
    const served = await serveChats(context, [asking(() => served.runtime)])
    const body = { id: 'chat', trigger: 'submit-message', messages: [said('m1', 'go')] }
    const text = await (await served.post(body)).text()
    assert.match(text, '8 characters')
    assert.match(text, 'told')
    assert.not.match(text, /a secret|risky|hidden/)
  })
})

describe('an incognito agent of one client', (it) => {
  it('has no messages, artifacts or past for others, by any door', async (context) => {
    const boss = defineAgent({ name: 'boss', model: policyModel(() => 'a secret') })
    const served = await serveChats(context, [boss])
    const agent = await served.connect().spawn('boss', { id: 'i', incognito: true })
    assert.is((await agent.prompt('go').result).text, 'a secret')
    assert.equal(await served.messages('i'), [])
    assert.is((await fetch(`${served.api}/i/stream`)).status, 204)
    const artifact = await fetch(`http://127.0.0.1:${served.server.port}/agents/i/artifacts/${'0'.repeat(64)}`)
    assert.is(artifact.status, 404)
    const other = await served.dial({ hello: {} })
    for (const type of ['agent.past', 'agent.snapshot', 'agent.subscribe', 'agent.share']) {
      const answer = await other.ask({ type, agentId: 'i' })
      assert.ok(answer.type === 'error', type)
      assert.not.match(JSON.stringify(answer), 'a secret')
    }
  })

  it('has sub-agents that its client sees and nobody else, also once they have ended', async (context) => {
    const { worker, boss } = approving()
    const { connect, runtime } = await serveAgents(context, [boss, worker])
    const client = connect()
    const agent = await client.spawn('boss', { id: 'i', incognito: true })
    const stranger = connect().agent('i.1')
    const notFound = withCode('AGENT_NOT_FOUND')
    const asked = gate<string>()
    agent.subscribe((event) => event.type === 'approval.requested' && asked.resolve(event.key))
    const run = agent.prompt('go')
    const key = await asked.promise
    await assert.rejects(stranger.snapshot(), notFound)
    assert.is((await client.agent('i.1').snapshot()).agentId, 'i.1')
    await agent.decide(key, 'approve')
    await run.result
    assert.is(runtime.agent('i.1'), undefined)
    await assert.rejects(stranger.snapshot(), notFound)
  })
})

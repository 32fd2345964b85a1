import { defineAgent } from '../../src/actors/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import type { AgentRuntime } from '../../src/runtime/agentRuntime.ts'
import { scriptedModel } from '../../src/testing/scriptedModel.ts'
import { z } from 'zod'
import { assert, describe } from '../support/suite.ts'
import { openHouse } from './acp/acpHarness.ts'
import { inputOf, readEvents, serveFrontEnds } from './agUi/agUiHarness.ts'

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
})

import { imageBytes, pngOf } from '../support/imageBytes.ts'
import { calls, done, never, startAgent, tool } from '../support/agentHarness.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { assert, describe } from '../support/suite.ts'

const image = { type: 'image', data: pngOf(), mimeType: 'image/png' } as const

describe('images', (it) => {
  it('go from the user to the model', async (context) => {
    const { agent, script } = await startAgent(context, { replies: ['a greeting'] })
    await agent.prompt([{ type: 'text', text: 'what is this?' }, image]).result
    assert.equal(script.requests[0]!.messages[0]!.content, [{ type: 'text', text: 'what is this?' }, image])
  })

  it('alone are a prompt', async (context) => {
    const { agent, script } = await startAgent(context, { replies: ['a greeting'] })
    await agent.prompt([image]).result
    assert.equal(script.requests[0]!.messages[0]!.content, [image])
  })

  it('go from a tool to the model, beside text', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [tool('shoot', () => [{ type: 'text', text: 'a picture' }, image])],
      replies: [calls('c', 'shoot'), 'nice'],
    })
    await agent.prompt('go').result
    assert.equal(script.requests[1]!.messages[2], {
      role: 'toolResult',
      callId: 'c0',
      toolName: 'shoot',
      content: [{ type: 'text', text: 'a picture' }, image],
      isError: false,
    })
  })
})

describe('images that lie elsewhere, and bytes', (it) => {
  const there = { type: 'image', url: 'https://pictures.example/cat.png' } as const

  it('go from people and tools to the model, and into the log', async (context) => {
    const bytes = imageBytes.png(1, 1)
    const { agent, script, records } = await startAgent(context, {
      tools: [tool('shoot', () => [there, { type: 'image', data: bytes, mimeType: 'image/png' }])],
      replies: [calls('c', 'shoot'), 'nice'],
    })
    await agent.prompt([there, { type: 'image', data: bytes, mimeType: 'image/png' }]).result
    assert.equal(script.requests[0]!.messages[0]!.content, [there, image])
    assert.equal(script.requests[1]!.messages[2]!.content, [there, image])
    const rebuilt = rebuildConversation(await records())
    assert.equal(rebuilt.trunk()[0]!.message.content, [there, image])
  })

  it('are redacted like any text', async (context) => {
    const { agent, script } = await startAgent(context, {
      replies: ['ok'],
      redact: { secrets: { SIGN: 's3cr3t-sign' } },
    })
    await agent.prompt([{ type: 'image', url: 'https://pictures.example/cat.png?sign=s3cr3t-sign' }]).result
    assert.not.match(JSON.stringify(script.requests), 's3cr3t-sign')
    assert.match(JSON.stringify(script.requests), 'https://pictures.example/cat.png')
  })

  it('of a tool must be such, or its call has failed and the model is told why', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [tool('shoot', () => [{ type: 'image', url: 'file:///etc/passwd' }])],
      replies: [calls('c', 'shoot'), 'sorry'],
    })
    assert.is((await agent.prompt('go').result).text, 'sorry')
    const result = script.requests[1]!.messages[2]!
    assert.ok(result.role === 'toolResult' && result.isError)
    assert.match(JSON.stringify(result.content), /give an https: or http: address/)
  })

  it('count as much as any image', () => {
    const count = (block: object) =>
      estimateTokens.message({ role: 'user', content: [block as never], source: 'prompt' })
    assert.is(count(there), count(image))
  })

  it('reach an agent on a server', async (context) => {
    const model = scriptedModel(['hi'])
    const seer = defineAgent({ name: 'seer', model })
    const serving = await serveAgents(context, [seer])
    await serving.runtime.spawn(seer, { id: 's' })
    const bytes = imageBytes.png(1, 1)
    await serving
      .connect()
      .agent('s')
      .prompt([there, { type: 'image', data: bytes, mimeType: 'image/png' }]).result
    assert.equal(model.requests[0]!.messages[0]!.content, [there, image])
  })
})

describe('thinking', (it) => {
  it('is streamed apart from the text and goes back with its signature, before the call it precedes', async (context) => {
    const thinking = { type: 'thinking', text: 'I should look', signature: 'sealed' } as const
    const call = { type: 'toolCall', callId: 'c0', name: 'look', input: {} } as const
    const { agent, ofType, script } = await startAgent(context, {
      tools: [tool('look', () => 'ok')],
      replies: [
        {
          parts: [
            { type: 'thinking.delta', text: 'I should ' },
            { type: 'thinking.delta', text: 'look' },
            done([thinking, { type: 'text', text: 'Looking.' }, call], { stopReason: 'toolUse' }),
          ],
        },
        'seen',
      ],
    })
    const result = await agent.prompt('go').result
    assert.is(result.text, 'seen')
    assert.equal(
      ofType('thinking.delta').map(({ text, offset }) => [text, offset]),
      [
        ['I should ', 0],
        ['look', 9],
      ],
    )
    assert.equal(script.requests[1]!.messages[1]!.content, [thinking, { type: 'text', text: 'Looking.' }, call])
  })

  it('without text, sealed only by a signature, is kept as well', async (context) => {
    const thinking = { type: 'thinking', text: '', signature: 'redacted' } as const
    const { agent, script } = await startAgent(context, {
      replies: [{ parts: [done([thinking, { type: 'text', text: 'hm' }])] }, 'next'],
    })
    await agent.prompt('1').result
    await agent.prompt('2').result
    assert.equal(script.requests[1]!.messages[1]!.content, [thinking, { type: 'text', text: 'hm' }])
  })

  it('and arguments of a call are streamed with the names of their calls', async (context) => {
    const call = { type: 'toolCall', callId: 'c0', name: 'look', input: { at: 1 } } as const
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'ok')],
      replies: [
        {
          parts: [
            { type: 'toolCall.delta', callId: 'c0', name: 'look', text: '{"at"' },
            { type: 'toolCall.delta', callId: 'c0', text: ':1}' },
            done([call], { stopReason: 'toolUse' }),
          ],
        },
        'seen',
      ],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('toolCall.delta').map(({ callId, name, text }) => [callId, name, text]),
      [
        ['c0', 'look', '{"at"'],
        ['c0', undefined, ':1}'],
      ],
    )
  })

  it('of a call that an abort cut off is left out of the next request', async (context) => {
    const parts = (async function* () {
      yield { type: 'toolCall.delta', callId: 'c0', name: 'look', text: '{"a' } as const
      await never
    })()
    const { agent, script, untilState, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'ok')],
      replies: [{ parts }, 'fine'],
    })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    agent.abort()
    await run.result
    assert.equal(ofType('tool.start'), [])
    await agent.prompt('again').result
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user'],
    )
  })
})

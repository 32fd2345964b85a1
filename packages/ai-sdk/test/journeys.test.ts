import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { checkReload, serveChats, settled, shape } from './chatHarness.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: async ({ a, b }) => ({ sum: a + b }),
})

describe('useChat', (it) => {
  it('shows text, reasoning and calls, and after a reload the same', async (context) => {
    const model = scriptedModel([
      { thinking: 'let me see', text: 'I add.', toolCalls: [{ name: 'add', input: { a: 1, b: 2 } }] },
      'Three.',
    ])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [add] })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'What is 1 + 2?' })
    await settled(chat)
    assert.is(chat.error, undefined)
    assert.equal(shape(chat.messages[1]), [
      'step-start',
      'reasoning let me see',
      'text I add.',
      'add:output-available',
      'step-start',
      'text Three.',
    ])
    await checkReload(serving, chat)
    await chat.sendMessage({ text: 'Thanks.' })
    await settled(chat)
    assert.is(chat.messages.length, 4)
  })
})

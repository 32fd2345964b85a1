import { isToolUIPart, type UIMessage } from 'ai'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { checkReload, serveChats, settled, shape, until } from './chatHarness.ts'

const asks = (name: string, ran: string[] = []) =>
  defineTool({
    name,
    description: 'Asks.',
    input: z.object({}),
    needsApproval: true,
    run: async () => {
      ran.push(name)
      return `${name} done`
    },
  })

/** Keys of the approvals that a message asks for. */
const asked = (message: UIMessage | undefined): string[] =>
  (message?.parts ?? []).flatMap((part) =>
    isToolUIPart(part) && part.state === 'approval-requested' ? [part.approval.id] : [],
  )

describe('useChat asks people', (it) => {
  it('about two calls, and sends both answers in one request', async (context) => {
    const ran: string[] = []
    const model = scriptedModel([
      {
        toolCalls: [
          { name: 'one', input: {} },
          { name: 'two', input: {} },
        ],
      },
      'Both are known.',
    ])
    const agent = defineAgent({ name: 'a', model, tools: [asks('one', ran), asks('two', ran)] })
    const serving = await serveChats(context, [agent])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    await settled(chat)
    const [first, second, ...more] = asked(chat.messages[1])
    assert.equal(more, [])
    await chat.addToolApprovalResponse({ id: first!, approved: true })
    assert.is(chat.status, 'ready', 'it waits for the other answer')
    await chat.addToolApprovalResponse({ id: second!, approved: false, reason: 'too dear' })
    await until(chat, ({ messages }) => shape(messages[1]).includes('text Both are known.'))
    await settled(chat)
    assert.equal(shape(chat.messages[1]), [
      'step-start',
      'one:output-available',
      'two:output-denied',
      'step-start',
      'text Both are known.',
    ])
    assert.equal(ran, ['one'])
    assert.match(JSON.stringify(model.requests[1]), /too dear/)
    await checkReload(serving, chat)
  })

  it('who say something instead, as assistant-ui sends it: the call is denied', async (context) => {
    const ran: string[] = []
    const model = scriptedModel([{ toolCalls: [{ name: 'one', input: {} }] }, 'It is denied.', 'And now this.'])
    const agent = defineAgent({ name: 'a', model, tools: [asks('one', ran)] })
    const serving = await serveChats(context, [agent])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    await settled(chat)
    const last = chat.messages.at(-1)!
    const parts = last.parts.map((part) => {
      if (!isToolUIPart(part)) return part
      const { approval: _, ...rest } = part
      return { ...rest, state: 'output-error', errorText: 'The person went on.' } as typeof part
    })
    chat.messages = [...chat.messages.slice(0, -1), { ...last, parts }]
    await chat.sendMessage({ text: 'something else' })
    await until(chat, ({ messages }) => shape(messages.at(-1)).includes('text And now this.'))
    await settled(chat)
    assert.equal(ran, [])
    assert.match(JSON.stringify(model.requests[1]), /The person went on/)
  })

  it('about a call of a sub-agent, shown while it works and answered as any other', async (context) => {
    const worker = defineAgent({
      name: 'worker',
      description: 'Works.',
      model: scriptedModel([{ text: 'I look.', toolCalls: [{ name: 'look', input: {} }] }, 'It is there.']),
      tools: [asks('look')],
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'worker', input: { task: 'look' } }] }, 'Found.'])
    const serving = await serveChats(context, [defineAgent({ name: 'boss', model, agents: [worker] })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    await settled(chat)
    const [key] = asked(chat.messages[1])
    await chat.addToolApprovalResponse({ id: key!, approved: true })
    await until(chat, ({ messages }) => shape(messages[1]).includes('text Found.'))
    await settled(chat)
    assert.equal(shape(chat.messages[1]), [
      'step-start',
      'worker:output-available',
      'step-start',
      'look:output-available',
      'step-start',
      'text Found.',
    ])
    await checkReload(serving, chat)
  })

  it('shows what a sub-agent does before it is done', async (context) => {
    const gate = Promise.withResolvers<void>()
    const waits = defineTool({
      name: 'waits',
      description: 'Waits.',
      input: z.object({}),
      run: async () => {
        await gate.promise
        return 'ok'
      },
    })
    const worker = defineAgent({
      name: 'worker',
      description: 'Works.',
      model: scriptedModel([{ text: 'I look.', toolCalls: [{ name: 'waits', input: {} }] }, 'It is there.']),
      tools: [waits],
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'worker', input: { task: 'look' } }] }, 'Found.'])
    const serving = await serveChats(context, [defineAgent({ name: 'boss', model, agents: [worker] })])
    const chat = serving.chat()
    const sending = chat.sendMessage({ text: 'go' })
    const preview = (): UIMessage | undefined => {
      const part = chat.messages[1]?.parts.find(isToolUIPart)
      return part?.state === 'output-available' && part.preliminary === true ? (part.output as UIMessage) : undefined
    }
    await until(chat, () => shape(preview()).includes('waits:input-available'))
    assert.equal(shape(preview()), ['step-start', 'text I look.', 'waits:input-available'])
    gate.resolve()
    await sending
    assert.equal(shape(chat.messages[1]), ['step-start', 'worker:output-available', 'step-start', 'text Found.'])
    await checkReload(serving, chat)
  })

  it('a question of a tool, as data that is answered by its key', async (context) => {
    const poll = defineTool({
      name: 'poll',
      description: 'Asks.',
      input: z.object({}),
      run: async (_, { ask }) => `It is ${await ask(z.enum(['red', 'blue']), 'Which?')}.`,
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'poll', input: {} }] }, 'Blue it is.'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [poll] })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    const part = chat.messages[1]?.parts.find(({ type }) => type === 'data-question') as
      | { id: string; data: { question: string; status: string; schema: { enum: unknown } } }
      | undefined
    assert.equal(
      [part?.data.question, part?.data.status, part?.data.schema.enum],
      ['Which?', 'waiting', ['red', 'blue']],
    )
    await chat.sendMessage(undefined, { body: { answers: { [part!.id]: { value: 'green' } } } })
    assert.match(chat.error?.message ?? '', /Which\?/)
    chat.clearError()
    await chat.sendMessage(undefined, { body: { answers: { [part!.id]: { value: 'blue' } } } })
    assert.equal(shape(chat.messages[1]), [
      'step-start',
      'poll:output-available',
      'data-question',
      'step-start',
      'text Blue it is.',
    ])
    await checkReload(serving, chat)
  })

  it('for the result of a tool of its own', async (context) => {
    const place = defineTool({ name: 'place', description: 'Where the person is.', input: z.object({}) })
    const model = scriptedModel([{ toolCalls: [{ name: 'place', input: {} }] }, 'You are in Basel.'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [place] })])
    const chat = serving.chat({
      onToolCall: ({ toolCall }) => {
        if (toolCall.toolName === 'place')
          void chat.addToolOutput({ tool: 'place', toolCallId: toolCall.toolCallId, output: { city: 'Basel' } })
      },
    })
    await chat.sendMessage({ text: 'Where am I?' })
    await until(chat, ({ messages }) => shape(messages[1]).includes('text You are in Basel.'))
    await settled(chat)
    assert.match(JSON.stringify(model.requests[1]), /Basel/)
    await checkReload(serving, chat)
  })

  it('refuses what is said instead of an answer, and what is decided twice', async (context) => {
    const model = scriptedModel([{ toolCalls: [{ name: 'one', input: {} }] }, 'Done.'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [asks('one')] })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    const other = serving.chat({ messages: await serving.messages() })
    const [key] = asked(chat.messages[1])
    await other.sendMessage({ text: 'What now?' })
    assert.match(other.error?.message ?? '', /Decide first what the agent waits for: "one"/)
    const late = serving.chat({ messages: await serving.messages() })
    await chat.addToolApprovalResponse({ id: key!, approved: true })
    await until(chat, ({ messages }) => shape(messages[1]).includes('text Done.'))
    await late.addToolApprovalResponse({ id: key!, approved: false })
    await until(late, ({ status }) => status === 'error')
    assert.match(late.error?.message ?? '', /Nothing that was decided waits any more/)
    await checkReload(serving, chat)
  })
})

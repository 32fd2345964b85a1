import { DefaultChatTransport, isToolUIPart, type UIMessage } from 'ai'
import { z } from 'zod'
import { escapementChat } from '../../../src/client.ts'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { nextTurn } from '../../../test/support/runCase.ts'
import { checkReload, heldReply, serveChats, settled, shape, until } from './chatHarness.ts'

/**
 * A chat that waits for an approval, in a page that was just loaded and resumes it: the server has answered, and its answer, or what is
 * in it, is on its way until `arrive`.
 */
async function justLoaded(context: CaseContext, late: 'answer' | 'content' | 'answer, regardless' = 'answer') {
  const refund = defineTool({
    name: 'refund',
    description: 'Pays back.',
    input: z.object({}),
    needsApproval: true,
    run: async () => 'paid',
  })
  const model = scriptedModel([{ toolCalls: [{ name: 'refund', input: {} }] }, 'Done.'])
  const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [refund] })])
  await serving.chat().sendMessage({ text: 'go' })
  const arrived = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const methods: (string | undefined)[] = []
  const send: typeof fetch = async (input, init) => {
    methods.push(init?.method)
    if (methods.length > 1) return await fetch(input, init)
    const answer = await fetch(input, { ...init, signal: null })
    const content = await answer.bytes()
    if (late !== 'answer, regardless')
      init!.signal!.addEventListener('abort', () => arrived.reject(init!.signal!.reason))
    first.resolve()
    if (late !== 'content') await arrived.promise
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await arrived.promise
        controller.enqueue(content)
        controller.close()
      },
    })
    return new Response(body, answer)
  }
  const transport = new DefaultChatTransport<UIMessage>(escapementChat({ api: serving.api, fetch: send }))
  let finished = 0
  const chat = serving.chat({ messages: await serving.messages(), transport, onFinish: () => void (finished += 1) })
  const resuming = chat.resumeStream()
  await first.promise
  const approvalId = chat.messages[1]!.parts.find(isToolUIPart)!.approval!.id
  const approve = async (): Promise<void> => await chat.addToolApprovalResponse({ id: approvalId, approved: true })
  return { serving, chat, resuming, arrive: arrived.resolve, methods, approve, finished: () => finished }
}

const done = ['step-start', 'refund:output-available', 'step-start', 'text Done.']
const isDone = ({ messages }: { readonly messages: UIMessage[] }): boolean => shape(messages[1]).includes('text Done.')

const isFailed = ({ status }: { readonly status: string }): boolean => status === 'error'

describe('a chat that is resumed', (it) => {
  for (const late of ['answer', 'content', 'answer, regardless'] as const)
    it(`is not put back by what it resumes, when something is decided before its ${late} arrives`, async (context) => {
      const { serving, chat, resuming, arrive, methods, approve, finished } = await justLoaded(context, late)
      await nextTurn()
      assert.is(chat.status, 'ready', 'what was loaded can be answered')
      await approve()
      await until(chat, isDone)
      await resuming
      arrive()
      await settled(chat)
      await nextTurn()
      assert.equal(shape(chat.messages[1]), done)
      assert.equal([methods, finished()], [['GET', 'POST'], 1])
      await checkReload(serving, chat)
    })

  it('is shown as it was when nothing is decided', async (context) => {
    const { chat, resuming, arrive, methods, approve } = await justLoaded(context, 'content')
    arrive()
    await resuming
    assert.equal(shape(chat.messages[1]), ['step-start', 'refund:approval-requested'])
    await approve()
    await until(chat, isDone)
    assert.equal(methods, ['GET', 'POST'])
  })

  it('says why something said meanwhile was refused, and goes on saying so', async (context) => {
    const { serving, chat, resuming, methods, approve } = await justLoaded(context)
    const agent = serving.runtime.agent('chat')!
    agent.decide(agent.pending()[0]!.key, 'approve')
    await agent.settled()
    await approve()
    await until(chat, isFailed)
    await resuming
    assert.is(chat.status, 'error')
    assert.match(chat.error?.message ?? '', /Nothing that was decided waits any more/)
    assert.equal(methods, ['GET', 'POST'])
  })

  it('fails as what was said meanwhile when the server is gone', async (context) => {
    const { serving, chat, resuming, approve } = await justLoaded(context)
    await serving.server.close()
    await approve()
    await until(chat, isFailed)
    await resuming
    assert.is(chat.status, 'error')
    assert.instance(chat.error, TypeError)
  })

  it('ends at once when it is stopped', async (context) => {
    const { chat, resuming, approve } = await justLoaded(context)
    await approve()
    await chat.stop()
    await resuming
    assert.is(chat.status, 'ready')
  })

  it('is shown to its end though something is said before its answer arrives', async (context) => {
    const reply = heldReply('half an ', 'half an answer')
    const serving = await serveChats(context, [defineAgent({ name: 'a', model: scriptedModel([reply, 'And more.']) })])
    const first = serving.chat()
    void first.sendMessage({ text: 'go' })
    await until(first, ({ messages }) => shape(messages[1]).includes('text half an '))
    const arrived = Promise.withResolvers<void>()
    const methods: (string | undefined)[] = []
    const send: typeof fetch = async (input, init) => {
      methods.push(init?.method)
      if (methods.length === 1) await arrived.promise
      return await fetch(input, init)
    }
    const transport = new DefaultChatTransport<UIMessage>(escapementChat({ api: serving.api, fetch: send }))
    const chat = serving.chat({ messages: await serving.messages(), transport })
    const resuming = chat.resumeStream()
    const saying = chat.sendMessage({ text: 'more' })
    await until(chat, () => methods.length === 2)
    arrived.resolve()
    await until(chat, ({ messages }) => messages.some((one) => shape(one).includes('text half an ')))
    reply.release()
    await Promise.all([resuming, saying])
    const shown = new Set(chat.messages.map((one) => shape(one).at(-1)))
    assert.equal(shown, new Set(['text go', 'text half an answer', 'text more', 'text And more.']))
    assert.equal(methods, ['GET', 'POST'])
  })

  it('does not end the process when nobody reads what was decided', async (context) => {
    const { serving, chat, resuming } = await justLoaded(context)
    const messages = [chat.messages[0], { ...chat.messages[1], parts: [] }]
    const fetched = escapementChat({ api: serving.api })
    const body = JSON.stringify({ id: 'chat', trigger: 'submit-message', messages })
    const answer = await fetched.fetch(serving.api, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    assert.is(answer.status, 409)
    await answer.body?.cancel()
    await resuming
    assert.is(chat.status, 'error')
  })
})

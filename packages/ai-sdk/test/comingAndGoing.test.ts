import { DefaultChatTransport, WebSocketChatTransport, type UIMessage } from 'ai'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { escapementChat } from '../../../src/client.ts'
import { uiMessages } from '../../../src/aiSdk.ts'
import type { UiMessagePart } from '../src/uiTypes.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { scriptedModel, simulatedClock, type ScriptedReply } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { asKilled, checkReload, heldReply, logsOf, plain, serveChats, shape, until } from './chatHarness.ts'

const isSaying =
  (text: string) =>
  ({ messages }: { readonly messages: UIMessage[] }) =>
    shape(messages.at(-1)).some((part) => part.includes(text))

const agentOf = (replies: ScriptedReply[], options: Partial<Parameters<typeof defineAgent>[0]> = {}) =>
  defineAgent({ name: 'a', model: scriptedModel(replies), ...options })

describe('a client of useChat', (it) => {
  it('that leaves stops nothing, and finds everything when it comes back', async (context) => {
    const reply = heldReply('half an ', 'half an answer')
    const serving = await serveChats(context, [agentOf([reply])])
    const first = serving.chat()
    void first.sendMessage({ text: 'go' })
    await until(first, isSaying('half'))
    await first.stop()
    const back = serving.chat({ messages: await serving.messages() })
    const resuming = back.resumeStream()
    await until(back, isSaying('half'))
    reply.release()
    await resuming
    assert.equal(shape(back.messages[1]), ['step-start', 'text half an answer'])
    await checkReload(serving, back)
  })

  it('shows the same in two tabs', async (context) => {
    const reply = heldReply('half an ', 'half an answer')
    const serving = await serveChats(context, [agentOf([reply])])
    const one = serving.chat()
    const sending = one.sendMessage({ text: 'go' })
    await until(one, isSaying('half'))
    const two = serving.chat({ messages: await serving.messages() })
    const resuming = two.resumeStream()
    await until(two, isSaying('half'))
    reply.release()
    await Promise.all([sending, resuming])
    assert.equal(plain(two.messages), plain(one.messages))
    await checkReload(serving, two)
  })

  it('that sends a message again is answered by the same answer, and nothing runs twice', async (context) => {
    const model = scriptedModel(['one', 'two', 'no'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model })])
    const body = { id: 'chat', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] }
    const [first, again] = await Promise.all([serving.post(body), serving.post(body)])
    const texts = await Promise.all([first.text(), again.text()])
    const chat = serving.chat({ messages: await serving.messages() })
    await chat.sendMessage({ text: 'more' })
    const past = await (await serving.post(body)).text()
    for (const text of [...texts, past]) assert.match(text, /"delta":"one"/)
    assert.is(model.requests.length, 2)
  })

  it('hears nothing that its server wrote too late, as another process has the log by now', async (context) => {
    const memory = memoryStore()
    const store: Store = {
      ...memory,
      append: async (agentId, records) => {
        if (records.some(({ type }) => type === 'reply.end')) throw new RuntimeError('STORE_LEASE_LOST', 'taken')
        await memory.append(agentId, records)
      },
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'nothing', input: {} }] }])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model })], { runtime: { store } })
    const body = { id: 'chat', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] }
    const text = await (await serving.post(body)).text()
    assert.not.match(text, /tool-input-available/)
    assert.match(text, /Another process has the conversation/)
    assert.match(text, /"finishReason":"interrupted"/)
  })

  it('hears that nothing is under way', async (context) => {
    const serving = await serveChats(context, [agentOf(['one'])])
    const response = await fetch(`${serving.api}/nobody/stream`)
    assert.is(response.status, 204)
    assert.is(serving.runtime.agent('nobody'), undefined)
    assert.equal(await serving.messages('nobody'), [])
  })

  it('stops a run, and everyone who watches hears of it', async (context) => {
    const serving = await serveChats(context, [agentOf([heldReply('half an ', 'half an answer'), 'again'])])
    const one = serving.chat()
    const sending = one.sendMessage({ text: 'go' })
    await until(one, isSaying('half'))
    const response = await fetch(`${serving.api}/chat/stream`, { method: 'DELETE' })
    assert.is(response.status, 204)
    await sending
    assert.equal(shape(one.messages[1]), ['step-start', 'text half an '])
    assert.equal((one.messages[1]!.metadata as { stopReason: string }).stopReason, 'aborted')
    await checkReload(serving, one)
    await one.sendMessage({ text: 'more' })
    assert.equal(shape(one.messages[3]), ['step-start', 'text again'])
  })

  it('stops the run itself with the options of `escapementChat`, and sends no more than is new', async (context) => {
    const serving = await serveChats(context, [agentOf(['first', heldReply('half an ', 'half an answer'), 'third'])])
    const clock = simulatedClock()
    const bodies: { messages: unknown[] }[] = []
    const chat = serving.chat({
      transport: new DefaultChatTransport(
        escapementChat({
          api: serving.api,
          clock,
          fetch: (input, init) => {
            if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body) as (typeof bodies)[number])
            return fetch(input, init)
          },
        }),
      ),
    })
    await chat.sendMessage({ text: 'go' })
    void chat.sendMessage({ text: 'more' })
    await until(chat, isSaying('half'))
    const ended = new Promise<string>((resolve) => {
      serving.runtime.agent('chat')!.subscribe((event) => {
        if (event.type === 'run.end') resolve(event.stopReason)
      })
    })
    await chat.stop()
    await clock.advance(1_000)
    assert.is(await ended, 'aborted')
    await chat.sendMessage({ text: 'and more' })
    assert.equal(shape(chat.messages.at(-1)), ['step-start', 'text third'])
    assert.equal(
      bodies.map(({ messages }) => messages.length),
      [1, 2, 2],
    )
  })

  it('sends what the server reads and what the page gives, and nothing of its headers and its address', async (context) => {
    const serving = await serveChats(context, [agentOf(['hello'])])
    const bodies: unknown[] = []
    const sent: (string | null)[] = []
    const chat = serving.chat({
      transport: new DefaultChatTransport({
        ...escapementChat({
          api: serving.api,
          fetch: (input, init) => {
            bodies.push(JSON.parse(init?.body as string))
            sent.push(new Headers(init?.headers).get('authorization'))
            return fetch(input, init)
          },
        }),
        headers: { authorization: 'Bearer a-secret-of-the-page' },
        credentials: 'include',
        body: { plan: 'gold' },
      }),
    })
    await chat.sendMessage({ text: 'go' }, { body: { note: 1 }, metadata: { inner: true } })
    assert.is(chat.messages.at(-1)?.role, 'assistant', chat.error?.message)
    const [said] = chat.messages
    assert.equal(bodies, [{ plan: 'gold', note: 1, id: 'chat', messages: [plain(said)], trigger: 'submit-message' }])
    assert.equal(sent, ['Bearer a-secret-of-the-page'])
  })

  it('stops nothing that is asked for again at once', async (context) => {
    const reply = heldReply('half an ', 'half an answer')
    const serving = await serveChats(context, [agentOf([reply])])
    const clock = simulatedClock()
    const methods: (string | undefined)[] = []
    const counted: typeof fetch = (input, init) => {
      methods.push(init?.method)
      return fetch(input, init)
    }
    const transport = () =>
      new DefaultChatTransport<UIMessage>(escapementChat({ api: serving.api, clock, fetch: counted }))
    const chat = serving.chat({ transport: transport() })
    void chat.sendMessage({ text: 'go' })
    await until(chat, isSaying('half'))
    // As React does in StrictMode: what begins is stopped, and begins again.
    const stopping = chat.stop()
    const back = serving.chat({ transport: transport() })
    const resuming = back.resumeStream()
    await Promise.all([stopping, until(back, isSaying('half'))])
    const again = back.resumeStream()
    await until(back, () => methods.length === 3)
    await clock.advance(1_000)
    reply.release()
    await Promise.all([resuming, again])
    assert.is(shape(back.messages.at(-1)).at(-1), 'text half an answer')
    assert.equal(methods, ['POST', 'GET', 'GET'])
  })

  it('shows what is said into a run', async (context) => {
    const gate = Promise.withResolvers<void>()
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      run: async () => {
        await gate.promise
        return 'ok'
      },
    })
    const serving = await serveChats(context, [
      agentOf([{ toolCalls: [{ name: 'look', input: {} }] }, 'So be it.', 'And that.'], { tools: [look] }),
    ])
    const chat = serving.chat()
    const sending = chat.sendMessage({ text: 'go' })
    await until(chat, isSaying('look'))
    serving.runtime.agent('chat')!.steer('rather there')
    serving.runtime.agent('chat')!.followUp('then that')
    gate.resolve()
    await sending
    assert.equal(shape(chat.messages[1]), [
      'step-start',
      'look:output-available',
      'steering-message',
      'step-start',
      'text So be it.',
      'steering-message',
      'step-start',
      'text And that.',
    ])
    await checkReload(serving, chat)
  })

  it('that is loaded later has a line in place of what a guard refused', async (context) => {
    let isUp = false
    const gate = Promise.withResolvers<void>()
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      run: async () => {
        await gate.promise
        return 'ok'
      },
    })
    const calling = { toolCalls: [{ name: 'look', input: {} }] }
    const serving = await serveChats(context, [
      agentOf(['unheard', 'unheard', calling, 'unheard', 'It was Ann.'], {
        tools: [look],
        guards: {
          input: [
            ({ text }) => {
              if (!isUp) throw new Error('no scanner')
              return /1234/.test(text) ? { refuse: 'no passwords' } : { ok: true }
            },
          ],
          output: [({ text }) => (text.includes('Ann') ? { refuse: 'no names' } : { ok: true })],
        },
      }),
    ])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'it is 1234, I said' })
    isUp = true
    await chat.sendMessage({ text: 'again: 1234' })
    const sending = chat.sendMessage({ text: 'go' })
    await until(chat, isSaying('look'))
    serving.runtime.agent('chat')!.steer('or was it 12345?')
    gate.resolve()
    await sending
    await chat.sendMessage({ text: 'who?' })
    const message = '[A message of the user was withheld by the application: no passwords.]'
    const answer = '[This answer was withheld by the application: no names.]'
    const loaded = await serving.messages()
    const { records } = await logsOf(serving.store, 'chat')
    assert.equal(loaded, uiMessages(records))
    assert.not.match(JSON.stringify(loaded), /1234|Ann/)
    assert.equal(
      loaded.filter(({ role }) => role === 'user').map((said) => shape(said)),
      [[`text ${message}`], [`text ${message}`], ['text go'], ['text who?']],
    )
    const steered = loaded
      .flatMap(({ parts }) => parts as UiMessagePart[])
      .filter((part) => part.type === 'steering-message')
    assert.equal(
      steered.map(({ parts }) => parts),
      [[{ type: 'text', text: message }]],
    )
    assert.is(shape(loaded.at(-1)).at(-1), `text ${answer}`)
    assert.not.match(JSON.stringify(chat.messages), /Ann/)
  })

  it('sends files, and they are there after a reload', async (context) => {
    const model = scriptedModel(['A clock.'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model })])
    const chat = serving.chat()
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const pdf = 'data:application/pdf;base64,JVBERi0='
    await chat.sendMessage({
      text: 'What is this?',
      files: [
        { type: 'file', mediaType: 'image/png', url },
        { type: 'file', mediaType: 'application/pdf', url: pdf, filename: 'plan.pdf' },
      ],
    })
    assert.equal(model.requests[0]!.messages[0]!.content, [
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'file', data: 'JVBERi0=', mimeType: 'application/pdf', name: 'plan.pdf' },
      { type: 'text', text: 'What is this?' },
    ])
    await checkReload(serving, chat)
  })

  it('asks for another answer, which takes the place of the first', async (context) => {
    const model = scriptedModel(['one', 'two', 'three'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, braking: { revert: true } })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    await chat.regenerate()
    assert.is(chat.error, undefined)
    assert.equal(chat.messages.map(shape), [['text go'], ['step-start', 'text two']])
    await checkReload(serving, chat)
    await chat.regenerate()
    assert.equal(chat.messages.map(shape), [['text go'], ['step-start', 'text three']])
    await checkReload(serving, chat)
    assert.not.match(JSON.stringify(model.requests[1]!.messages), /"one"/)
  })

  it('goes on after the server was killed and started again', async (context) => {
    const before = await serveChats(context, [agentOf([heldReply('half an ', 'half an answer')])])
    const chat = before.chat()
    const sending = chat.sendMessage({ text: 'go' })
    await until(chat, isSaying('half'))
    const store = await asKilled(before.store)
    await before.server.close()
    await sending
    assert.is(chat.status, 'error', 'a stream that broke off is not taken for the whole')
    const definition = agentOf(['a whole answer'])
    const after = await serveChats(context, [definition], { runtime: { store } })
    const back = after.chat({ messages: chat.messages })
    const resuming = back.resumeStream()
    // Reading wakes nothing: the server itself goes on with what was under way.
    await after.runtime.resume('chat', definition)
    await resuming
    assert.equal(back.messages.map(shape), [['text go'], ['step-start', 'step-start', 'text a whole answer']])
    await checkReload(after, back)
  })

  it('speaks over a WebSocket as well: what stops, resumes and is refused', async (context) => {
    const reply = heldReply('half an ', 'half an answer')
    const stopped = heldReply('never ', 'never whole')
    const serving = await serveChats(context, [agentOf([reply, stopped, 'three', 'four'])])
    const transport = () => {
      const made = new WebSocketChatTransport<UIMessage>({
        url: serving.api.replace('http', 'ws'),
        webSocket: WebSocket as never,
      })
      context.cleanup(() => made.close())
      return made
    }
    const one = serving.chat({ transport: transport() })
    const sending = one.sendMessage({ text: 'go' })
    await until(one, isSaying('half'))
    const two = serving.chat({ transport: transport(), messages: await serving.messages() })
    const resuming = two.resumeStream()
    await until(two, isSaying('half'))
    reply.release()
    await Promise.all([sending, resuming])
    assert.equal(plain(two.messages), plain(one.messages))
    await checkReload(serving, one)
    void one.sendMessage({ text: 'more' })
    await until(one, isSaying('never'))
    const aborted = new Promise<void>((resolve) => {
      serving.runtime.agent('chat')!.subscribe((event) => {
        if (event.type === 'run.end') resolve()
      })
    })
    await one.stop()
    await aborted
    await one.sendMessage({ text: 'and more' })
    assert.is(shape(one.messages.at(-1)).at(-1), 'text three')
    await one.regenerate()
    assert.is(one.error, undefined)
    assert.is(shape(one.messages.at(-1)).at(-1), 'text four')
    const nobody = serving.chat({ id: 'nobody', transport: transport() })
    await nobody.resumeStream()
    assert.is(nobody.status, 'ready')
  })
})

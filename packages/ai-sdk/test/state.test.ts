import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { z } from 'zod'
import { chatState, escapementChat, type ChatStateData } from '../../../src/client.ts'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel, type ScriptedReply } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { event, folded, reply, text } from './chatEvents.ts'
import { ChatThread } from '../src/chatThread.ts'
import { wholeState } from '../src/stateParts.ts'
import { UiCursor } from '../src/uiCursor.ts'
import type { UiMessageChunk } from '../src/uiTypes.ts'
import { checkReload, heldReply, serveChats, settled, until } from './chatHarness.ts'

const Plan = z.object({ title: z.string(), steps: z.record(z.string(), z.string()) })
type Plan = z.infer<typeof Plan>

/** A message of a front end that has named its data. */
type PlanMessage = UIMessage<unknown, { state: ChatStateData<Plan> }>

const note = defineTool({
  name: 'note',
  description: 'Notes steps.',
  input: z.object({ from: z.number(), to: z.number() }),
  run: ({ from, to }, { state }) => {
    for (let n = from; n < to; n += 1) state.of(Plan).update((plan) => void (plan.steps[`s${n}`] = `step ${n}`))
    return 'Noted.'
  },
})

const notes = (from: number, to: number): ScriptedReply => ({ toolCalls: [{ name: 'note', input: { from, to } }] })

const planner = (replies: ScriptedReply[]) =>
  defineAgent({
    name: 'a',
    model: scriptedModel(replies),
    tools: [note],
    state: { schema: Plan, initial: { title: '', steps: {} } },
  })

const told = (messages: readonly UIMessage[]): ChatStateData[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'data-state' ? [part.data as ChatStateData] : [])),
  )

const stepsIn = (messages: readonly UIMessage[]): number =>
  Object.keys(chatState<Plan>(messages)?.value.steps ?? {}).length

describe('the state of an agent in useChat', (it) => {
  it('is told as a whole and then by its changes, in the types of the front end', async (context) => {
    const serving = await serveChats(context, [planner([notes(0, 3), 'Done.'])])
    const heard: ChatStateData<Plan>[] = []
    const chat = new Chat<PlanMessage>({
      id: 'chat',
      transport: new DefaultChatTransport({ api: serving.api }),
      onData: (part) => void heard.push(part.data),
    })
    await chat.sendMessage({ text: 'plan' })
    assert.equal(
      heard.map((data) => ('value' in data ? Object.keys(data.value.steps) : data.patch.map(({ path }) => path))),
      [['s0'], ['/steps/s1'], ['/steps/s2']],
    )
    const agent = serving.runtime.agent('chat')!
    assert.equal(chatState<Plan>(chat.messages), { value: agent.appState, version: agent.stateVersion })
  })

  it('is the same after a reload: once, as it is now, in the last message', async (context) => {
    const serving = await serveChats(context, [planner([notes(0, 3), 'One.', notes(3, 5), 'Two.'])])
    const chat = serving.chat()
    for (const words of ['first', 'second']) {
      await chat.sendMessage({ text: words })
      await settled(chat)
    }
    assert.is(told(chat.messages).length, 5)
    const loaded = await serving.messages()
    assert.is(told(loaded).length, 1)
    assert.equal(chatState(loaded), chatState(chat.messages))
    assert.ok(loaded.at(-1)!.parts.some(({ type }) => type === 'data-state'))
  })

  it('that people change between two answers comes with the next one, and at once to a page that is loaded', async (context) => {
    const serving = await serveChats(context, [planner([notes(0, 1), 'One.', 'Two.', 'Three.'])])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'first' })
    await settled(chat)
    const agent = serving.runtime.agent('chat')!
    const rename = async (title: string): Promise<void> =>
      void (await agent.updateState((draft) => ({ ...(draft as Plan), title })))
    await rename('Move house')
    assert.is(chatState<Plan>(chat.messages)?.value.title, '')
    assert.is(chatState<Plan>(await serving.messages())?.value.title, 'Move house')
    await chat.sendMessage({ text: 'second' })
    await settled(chat)
    assert.equal(chatState(chat.messages), { value: agent.appState, version: agent.stateVersion })
    await chat.sendMessage({ text: 'third' })
    await settled(chat)
    assert.is(told(chat.messages.slice(-1)).length, 0, 'what has not changed is not told again')
  })

  it('is whole for a client that comes back in the middle, and one that decides after a reload', async (context) => {
    const asks = defineTool({
      name: 'asks',
      description: 'Asks.',
      input: z.object({}),
      needsApproval: true,
      run: (_, { state }) => {
        state.of(Plan).update((plan) => void (plan.title = 'approved'))
        return 'ok'
      },
    })
    const held = heldReply('half an ', 'half an answer')
    const definition = defineAgent({
      name: 'a',
      model: scriptedModel([notes(0, 40), { toolCalls: [{ name: 'asks', input: {} }] }, held]),
      tools: [note, asks],
      state: { schema: Plan, initial: { title: '', steps: {} } },
    })
    const serving = await serveChats(context, [definition])
    const first = serving.chat()
    await first.sendMessage({ text: 'go' })
    await settled(first)
    assert.is(stepsIn(first.messages), 40)
    const transport = new DefaultChatTransport<UIMessage>(escapementChat({ api: serving.api }))
    const back = serving.chat({ messages: await serving.messages(), transport })
    await back.resumeStream()
    assert.is(stepsIn(back.messages), 40)
    const [pending] = serving.runtime.agent('chat')!.pending()
    const answering = back.addToolApprovalResponse({ id: pending!.key, approved: true })
    await until(back, ({ messages }) => chatState<Plan>(messages)?.value.title === 'approved')
    const third = serving.chat({ messages: await serving.messages() })
    const resuming = third.resumeStream()
    await until(third, ({ messages }) => JSON.stringify(messages).includes('half an '))
    held.release()
    await Promise.all([answering, resuming])
    await settled(back)
    const agent = serving.runtime.agent('chat')!
    for (const { messages } of [back, third])
      assert.equal(chatState(messages), { value: agent.appState, version: agent.stateVersion })
  })

  it('has at most 33 parts in a message, whatever changes', async (context) => {
    const serving = await serveChats(context, [planner([notes(0, 200), 'Done.'])])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'plan' })
    await settled(chat)
    assert.is(stepsIn(chat.messages), 200)
    assert.ok(told(chat.messages).length <= 33, `${told(chat.messages).length} parts`)
  })

  it('goes back with the answer that is given again', async (context) => {
    const serving = await serveChats(context, [planner([notes(0, 2), 'One.', 'Another.'])])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'plan' })
    await settled(chat)
    await chat.regenerate()
    await settled(chat)
    assert.is(stepsIn(chat.messages), 0)
    assert.equal(chatState(chat.messages)?.value, serving.runtime.agent('chat')!.appState)
  })

  it('is for those who see everything', async (context) => {
    const tokens = {
      'all-of-sixteen-characters': { role: 'admin' },
      'some-of-sixteen-characters': { may: ['see.messages', 'talk', 'spawn'] },
    } as const
    const serving = await serveChats(context, [planner([notes(0, 2), 'One.', notes(2, 4), 'Two.'])], { tokens })
    const chat = serving.chat({ headers: { authorization: 'Bearer some-of-sixteen-characters' } })
    await chat.sendMessage({ text: 'plan' })
    await settled(chat)
    assert.is(chat.error, undefined)
    assert.equal(told(chat.messages), [])
    const loaded = await fetch(`${serving.api}/chat`, {
      headers: { authorization: 'Bearer some-of-sixteen-characters' },
    })
    assert.not.match(await loaded.text(), /data-state/)
    const all = serving.chat({ headers: { authorization: 'Bearer all-of-sixteen-characters' } })
    await all.sendMessage({ text: 'more' })
    await settled(all)
    assert.is(stepsIn(all.messages), 4)
  })

  it('changes nothing for an agent without it', async (context) => {
    const serving = await serveChats(context, [defineAgent({ name: 'a', model: scriptedModel(['Done.']) })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    await settled(chat)
    assert.equal(told(chat.messages), [])
    assert.is(chatState(chat.messages), undefined)
    await checkReload(serving, chat)
  })

  it('of a fork is not guessed from the log of its source', () => {
    const begun = event('run.start', { cause: 'prompt', requestId: 'q', messages: 1, seq: 2 })
    const patch = (seq: number, more = {}) =>
      event('state.patched', { seq, by: 'person', patch: [{ op: 'replace', path: '/n', value: seq }], ...more })
    const created = event('agent.created', { seq: 1 })
    const { fold } = folded(created, begun, patch(3, { initial: { n: 0 } }), reply(text('x')))
    assert.equal(fold.state, { value: { n: 3 }, version: 3 })
    fold.take(created)
    assert.is(fold.state, undefined)
    fold.take(patch(4))
    assert.is(fold.state, undefined)
  })

  it('is put together from the newest whole and what is newer than that', () => {
    const part = (id: string, data: ChatStateData) => ({ type: 'data-state', id, data })
    const parts = [
      part('state', { version: 10, value: { n: 'ten' } }),
      part('state-1', { version: 12, patch: [{ op: 'replace', path: '/n', value: 'twelve' }] }),
      part('state-2', { version: 11, patch: [{ op: 'add', path: '/m', value: 'eleven' }] }),
      part('state-3', { version: 9, patch: [{ op: 'add', path: '/old', value: 'nine' }] }),
      part('state-4', { version: 13, patch: [{ op: 'remove', path: '/gone' }] }),
    ]
    const older = { parts: [part('state', { version: 1, value: { n: 'one' } })] }
    assert.equal(chatState([older, { parts: parts.slice(0, 4) }, { parts: [{ type: 'text' }] }]), {
      value: { n: 'twelve', m: 'eleven' },
      version: 12,
    })
    assert.equal(chatState([{ parts }])?.value, { n: 'twelve', m: 'eleven' }, 'what does not fit changes nothing')
    assert.is(chatState([{ parts: parts.slice(1) }]), undefined)
  })

  it('is sent again to a client that has just dropped the step in which it came', () => {
    const sent: UiMessageChunk[] = []
    const cursor = new UiCursor({ isFull: false, write: (chunk) => void sent.push(chunk) })
    const stateParts = wholeState({ version: 1, value: { title: 'x' } })
    const step = { type: 'step-start' } as const
    cursor.pull({ entries: [step, { type: 'growing', of: 'text', pieces: ['half'] }], stateParts })
    sent.length = 0
    cursor.pull({ entries: [step, { type: 'text', text: 'other' }], stateParts })
    assert.equal(
      sent.map(({ type }) => type).filter((type) => /reset|data/.test(type)),
      ['reset-step', 'data-state'],
    )
  })

  it('that changed between two answers is told by a thread that is read anew, too', async (context) => {
    const { runtime } = await serveChats(context, [planner(['One.', 'Two.'])])
    const agent = await runtime.spawn(planner([notes(0, 1), 'One.', 'Two.']), { id: 'b' })
    await agent.prompt('first').result
    const thread = new ChatThread(agent, (_, from) => agent.readLog(from))
    await thread.follow()
    await agent.updateState((plan) => ({ ...plan, title: 'between' }))
    await agent.prompt('second').result
    const before = thread.exchange!.stateParts
    assert.match(JSON.stringify(before), /between/)
    thread.stop()
    await thread.follow()
    assert.equal(thread.exchange!.stateParts, before)
    thread.stop()
  })
})

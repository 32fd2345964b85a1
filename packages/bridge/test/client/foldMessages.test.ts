import { conversationStore, emptyChat, foldMessages, type Chat, type ChatReply } from '../../../../src/client.ts'
import { createRuntime, defineAgent, memoryStore, type Agent, type AgentEvent } from '../../../../src/index.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { approving, lastingStore, serveAgents, untilStatus } from '../server/bridgeHarness.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

/** An agent, and its chat after each event. */
async function chatting(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  definition: Parameters<typeof defineAgent>[0],
  options: Parameters<Awaited<ReturnType<typeof createRuntime>>['spawn']>[1] = {},
) {
  const runtime = await createRuntime({ store: memoryStore() })
  cleanup(() => runtime.close())
  const agent = await runtime.spawn(defineAgent(definition), { id: 'a', ...options })
  const chats: Chat[] = [emptyChat('a')]
  const events: AgentEvent[] = []
  for await (const record of agent.readLog())
    chats.push(foldMessages(chats.at(-1)!, { ...record, agentId: 'a', path: [] }))
  agent.subscribe((event) => {
    events.push(event)
    chats.push(foldMessages(chats.at(-1)!, event))
  })
  return { agent, chats, events, chat: () => chats.at(-1)! }
}

const seen = ({ messages }: Chat): unknown[] =>
  messages.map(({ role, text, hidden }) => (hidden === undefined ? [role, text] : [role, text, hidden]))

/** The messages of people and models that a conversation's trunk has, by node. */
const onTrunk = (agent: Agent): unknown[] =>
  agent.conversation.trunk().flatMap(({ id, message }) => (message.role === 'toolResult' ? [] : [id]))

const shown = ({ messages }: Chat): unknown[] =>
  messages
    .filter(({ hidden }) => hidden === undefined)
    .map(({ nodeId }) => nodeId!)
    .toSorted((a, b) => a - b)

/** The nodes from the first message to the last, as each says what it comes after; no more than there are messages. */
function path({ messages }: Chat): readonly number[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const nodes: number[] = []
  let at = messages.findLast(({ hidden, nodeId }) => hidden === undefined && nodeId !== undefined)
  for (; at !== undefined && nodes.length < messages.length; at = byId.get(at.after ?? '')) nodes.unshift(at.nodeId!)
  return nodes
}

const speaking: Model = {
  id: 'test:speaking',
  async *stream() {
    for (const text of ['Hel', 'lo ', 'you.']) yield { type: 'text.delta', text }
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    yield { type: 'done', reply: { content: [{ type: 'text', text: 'Hello you.' }], stopReason: 'stop', usage } }
  },
}

describe('a chat folded from events', (it) => {
  it('has a reply that grows under the id it keeps', async (context) => {
    const { agent, chats, chat } = await chatting(context, { name: 'talker', model: speaking })
    await agent.prompt('Hi').result
    assert.equal(seen(chat()), [
      ['user', 'Hi'],
      ['assistant', 'Hello you.'],
    ])
    const replies = chats.flatMap(({ messages }) => messages.filter(({ role }) => role === 'assistant')) as ChatReply[]
    assert.is(new Set(replies.map(({ id }) => id)).size, 1)
    assert.equal([...new Set(replies.map(({ text }) => text))], ['', 'Hel', 'Hello ', 'Hello you.'])
    assert.equal([...new Set(replies.map(({ status }) => status))], ['growing', 'done'])
    assert.equal([...new Set(chats.map(({ status }) => status))], ['idle', 'running', 'idle'].slice(0, 2))
    assert.is(chat().status, 'idle')
    assert.is(chat().seq, agent.lastSeq)
  })

  it('takes a piece that comes again in its place', () => {
    const delta = (text: string, offset: number): AgentEvent => ({
      type: 'reply.delta',
      agentId: 'a',
      path: [],
      seq: 1,
      time: 0,
      runId: 'a/r0',
      turnIndex: 0,
      text,
      offset,
    })
    const events = [delta('Hel', 0), delta('lo', 3), delta('Hello', 0), delta(' you', 5)]
    assert.is(events.reduce(foldMessages, emptyChat('a')).messages[0]?.text, 'Hello you')
  })

  it('keeps what does not change as the same object', async (context) => {
    const { agent, chats, chat } = await chatting(context, { name: 'talker', model: speaking })
    await agent.prompt('Hi').result
    const [first, second] = chat().messages
    await agent.prompt('And again').result
    assert.is(chat().messages[0], first)
    assert.is(chat().messages[1], second)
    const before = chats.at(-1)!
    assert.is(foldMessages(before, { type: 'turn.start', seq: 1, agentId: 'a' } as unknown as AgentEvent), before)
  })

  it('shows calls with what came of them', async (context) => {
    const model = scriptedModel([
      {
        toolCalls: [
          { name: 'look', input: { at: 1 } },
          { name: 'break', input: {} },
        ],
      },
      'done',
    ])
    const tools = [
      tool('look', (_, { report }) => {
        report('half')
        return 'seen'
      }),
      tool('break', () => {
        throw new Error('broken')
      }),
    ]
    const { agent, chats, chat } = await chatting(context, { name: 'caller', model, tools })
    await agent.prompt('go').result
    const [, reply] = chat().messages
    assert.ok(reply?.role === 'assistant')
    assert.equal(
      reply.calls.map(({ name, status, result }) => [name, status, result?.[0]?.type]),
      [
        ['look', 'done', 'text'],
        ['break', 'failed', 'text'],
      ],
    )
    const progress = chats.flatMap(({ messages }) =>
      messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map((call) => call.progress) : [])),
    )
    assert.ok(progress.includes('half'))
    assert.is(reply.calls[0]!.progress, undefined)
  })

  it('has what waits for people until it is decided, of sub-agents too', async (context) => {
    const { boss } = approving()
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(boss, { id: 'a' })
    let chat = emptyChat('a')
    const waits = Promise.withResolvers<void>()
    agent.subscribe((event) => {
      chat = foldMessages(chat, event)
      if (chat.pending.length > 0) waits.resolve()
    })
    const run = agent.prompt('go')
    await waits.promise
    const [{ key, kind, name, agentId }] = chat.pending as [Chat['pending'][number]]
    assert.equal([kind, name, agentId === 'a'], ['approval', 'look', false])
    assert.is(
      chat.messages.at(-1)?.role === 'assistant' && (chat.messages.at(-1) as ChatReply).calls[0]?.childId,
      agentId,
    )
    agent.decide(key, 'approve')
    await run.result
    assert.equal(chat.pending, [])
  })

  it('is not left waiting by an abort', async (context) => {
    for (const definition of [approving().worker, approving().boss]) {
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      const agent = await runtime.spawn(definition, { id: 'a' })
      let chat = emptyChat('a')
      const waits = Promise.withResolvers<void>()
      agent.subscribe((event) => {
        chat = foldMessages(chat, event)
        if (chat.pending.length > 0) waits.resolve()
      })
      const run = agent.prompt('go')
      await waits.promise
      agent.abort()
      await run.result
      assert.equal(chat.pending, [])
      const [, reply] = chat.messages
      assert.is(reply?.role === 'assistant' && reply.calls[0]?.synthetic, 'aborted')
    }
  })

  it('marks what a revert, a prune or a graft changes, and agrees with the trunk', async (context) => {
    const { agent, chat } = await chatting(context, {
      name: 'braked',
      model: scriptedModel(['one', 'two', 'three', 'four']),
      braking: { revert: { onUserMessage: 'rebase' }, prune: true },
    })
    for (const text of ['a', 'b', 'c']) await agent.prompt(text).result
    agent.revert('n2', { category: 'tangent', summary: 'It led nowhere.' })
    await agent.prompt('d').result
    assert.equal(shown(chat()), onTrunk(agent))
    assert.ok(chat().messages.some(({ hidden, text }) => hidden === 'reverted' && text === 'two'))
    assert.equal(path(chat()), onTrunk(agent))
    // People's own words go on.
    assert.ok(chat().messages.every(({ role, hidden }) => role === 'assistant' || hidden === undefined))
    agent.graft('n4')
    agent.prune({ steps: ['n2'] })
    await agent.prompt('e').result
    assert.equal(path(chat()), onTrunk(agent))
    assert.is(chat().messages.find(({ text }) => text === 'three')?.after, 'n5')
    const hidden = chat().messages.filter((message) => message.hidden !== undefined)
    assert.equal(
      hidden.map(({ text, hidden: why }) => [text, why]),
      [
        ['one', 'pruned'],
        ['three', 'reverted'],
      ],
    )
  })

  it('begins with the history that its agent began with', async (context) => {
    const history = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Good day.' },
      { role: 'user', content: 'Are you there?' },
      { role: 'assistant', content: 'I am.' },
    ] as const
    const { agent, chat } = await chatting(context, { name: 'talker', model: speaking }, { history })
    await agent.prompt('Hi').result
    assert.equal(
      chat().messages.map(({ text }) => text),
      ['Hello', 'Good day.', 'Are you there?', 'I am.', 'Hi', 'Hello you.'],
    )
    assert.is(new Set(chat().messages.map(({ id }) => id)).size, 6)
  })

  it('has a line in place of what a guard refused, as the conversation has, live and from the log', async (context) => {
    const { agent, chat } = await chatting(context, {
      name: 'guarded',
      model: scriptedModel(['Good day.', 'It was Ann.', 'unheard', 'better']),
      guards: {
        input: [({ text }) => (text.includes('1234') ? { refuse: 'no passwords' } : { ok: true })],
        output: [({ text }) => (text.includes('Ann') ? { refuse: 'no names' } : { ok: true })],
      },
    })
    for (const text of ['Hello', 'Who was it?', 'My password is 1234.', 'Are you there?'])
      await agent.prompt(text).result
    const spoken = agent.conversation.trunk().map(({ message }) => [message.role, textOf(message.content)])
    assert.equal(
      spoken.filter(([, text]) => text!.includes('was withheld by the application')).map(([role]) => role),
      ['assistant', 'user'],
    )
    let again = emptyChat('a')
    for await (const record of agent.readLog()) again = foldMessages(again, { ...record, agentId: 'a', path: [] })
    for (const { messages } of [chat(), again]) {
      const said = messages.filter(({ nodeId }) => nodeId !== undefined)
      assert.equal(
        said.map(({ role, text }) => [role, text]),
        spoken,
      )
      assert.equal(
        said.map(({ content }) => content),
        agent.conversation.trunk().map(({ message }) => message.content),
      )
      assert.not.match(JSON.stringify(messages), /1234|Ann/)
    }
  })

  it('tells how a run that failed ended', async (context) => {
    const failing: Model = {
      id: 'test:failing',
      async *stream() {
        yield { type: 'text.delta', text: 'Well' }
        yield { type: 'error', error: { kind: 'badRequest', message: 'no' } }
      },
    }
    const { agent, chat } = await chatting(context, { name: 'talker', model: failing })
    await agent.prompt('Hi').result
    assert.is(chat().error?.code, 'MODEL_BAD_REQUEST')
    assert.is(chat().status, 'idle')
    assert.ok(chat().messages.every((message) => message.role === 'user' || message.status !== 'growing'))
  })
})

describe('the store of a conversation', (it) => {
  it('follows its agent over a restart of the server, and tells of changes together', async (context) => {
    const talker = defineAgent({ name: 'talker', model: speaking })
    const store = lastingStore()
    const first = await serveAgents(context, [talker], { runtime: { store } })
    const client = first.connect()
    const agent = await client.spawn('talker', { id: 'a' })
    const conversation = conversationStore(agent)
    context.cleanup(() => conversation.close())
    let told = 0
    conversation.subscribe(() => (told += 1))
    await agent.prompt('Hi').result
    const { port } = first.server
    const reconnecting = untilStatus(client, 'reconnecting')
    await first.runtime.close()
    await reconnecting
    await serveAgents(context, [talker], { port, runtime: { store } })
    await untilStatus(client, 'open')
    await agent.prompt('Again').result
    assert.equal(seen(conversation.getSnapshot()), [
      ['user', 'Hi'],
      ['assistant', 'Hello you.'],
      ['user', 'Again'],
      ['assistant', 'Hello you.'],
    ])
    assert.ok(told > 0 && told <= conversation.getSnapshot().seq)
    // A second one reads it all from the log.
    const other = conversationStore(agent)
    context.cleanup(() => other.close())
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (other.getSnapshot().messages.length === 4) resolve()
      }
      other.subscribe(look)
      look()
    })
    assert.equal(other.getSnapshot(), { ...conversation.getSnapshot() })
  })

  it('reports a listener that throws, and goes on', async (context) => {
    const talker = defineAgent({ name: 'talker', model: speaking })
    const { connect } = await serveAgents(context, [talker])
    const client = connect()
    const failed = new Promise<string>((resolve) => client.onError(({ code }) => resolve(code)))
    const agent = await client.spawn('talker')
    const conversation = conversationStore(agent)
    context.cleanup(() => conversation.close())
    conversation.subscribe(() => {
      throw new Error('a view is broken')
    })
    let isTold = false
    conversation.subscribe(() => (isTold = true))
    await agent.prompt('Hi').result
    assert.is(await failed, 'SUBSCRIBER_FAILED')
    assert.ok(isTold)
  })
})

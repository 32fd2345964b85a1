import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { createRuntime, defineAgent, memoryStore, type HistoryMessage } from '../../src/index.ts'
import { forkSession, listSessions } from '../../src/sessions.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { failsWith } from '../../packages/stores/test/storeFolder.ts'
import { sharedStore } from '../support/sharedStore.ts'
import { nested } from '../support/nested.ts'
import { assert, describe } from '../support/suite.ts'

const history: readonly HistoryMessage[] = [
  { role: 'user', content: 'Where is my order?' },
  {
    role: 'assistant',
    content: [
      { type: 'toolCall', callId: 'a', name: 'look_up', input: { id: 7 } },
      { type: 'toolCall', callId: 'b', name: 'look_up', input: { id: 8 } },
    ],
    model: 'other:one',
  },
  { role: 'toolResult', callId: 'b', toolName: 'look_up', content: '' },
  { role: 'toolResult', callId: 'a', toolName: 'look_up', content: 'on its way' },
  { role: 'assistant', content: 'It is on its way.' },
]

const agentOf = (replies: readonly string[]) => {
  const model = scriptedModel(replies)
  return { model, definition: defineAgent({ name: 'support', model, checkRequests: true, braking: { revert: true } }) }
}

async function recordsOf(store: ReturnType<typeof memoryStore>, id: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(id)) records.push(record)
  return records
}

describe('an agent that begins with the conversation of another system', (it) => {
  it('shows it to the model, marked as imported, and goes on from it', async ({ cleanup }) => {
    const { model, definition } = agentOf(['Tomorrow.'])
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition, { id: 'one', history })
    assert.is(agent.state, 'idle')
    const captured: unknown[] = []
    agent.subscribe((event) => {
      if (event.type === 'turn.request') captured.push(...event.provenance.map(({ type }) => type))
    })
    assert.is((await agent.prompt('When?').result).text, 'Tomorrow.')
    const [request] = model.requests
    assert.equal(
      request!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'assistant', 'user'],
    )
    assert.equal(
      request!.messages.flatMap((message) => (message.role === 'toolResult' ? [message.callId] : [])),
      ['a', 'b'],
    )
    assert.equal(checkRequest(request!), [])
    assert.equal(captured, [...Array<string>(5).fill('imported'), 'loopTurn'])
    assert.equal(agent.spent.turns, 1)
    const rebuilt = rebuildConversation(await recordsOf(store, 'one'))
    assert.equal(rebuilt.trunk(), agent.conversation.trunk())
    const [session] = await listSessions(store)
    assert.equal([session?.runs, session?.turns], [1, 1])
  })

  it('has it after a restart, and in a fork at any of its steps', async () => {
    const store = memoryStore()
    const lives = [agentOf([]), agentOf(['Tomorrow.']), agentOf(['Forked.'])]
    const first = await createRuntime({ store: sharedStore(store) })
    await first.spawn(lives[0]!.definition, { id: 'one', history })
    await first.close()
    const second = await createRuntime({ store: sharedStore(store) })
    const agent = await second.resume('one', lives[1]!.definition)
    assert.is((await agent.prompt('When?').result).text, 'Tomorrow.')
    assert.is(lives[1]!.model.requests[0]!.messages.length, 6)
    await forkSession(store, 'one', 'n2', { id: 'fork' })
    const fork = await second.resume('fork', lives[2]!.definition)
    assert.is(fork.state, 'idle')
    assert.is((await fork.prompt('And now?').result).text, 'Forked.')
    assert.equal(
      lives[2]!.model.requests[0]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'user'],
    )
    await second.close()
  })

  it('is none where it holds what no record can', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    for (const levels of [600, 100_000]) {
      const content = [{ type: 'toolCall', callId: 'a', name: 'look_up', input: nested(levels) }] as const
      const begun = runtime.spawn(agentOf([]).definition, { id: 'one', history: [{ role: 'assistant', content }] })
      await assert.rejects(begun, failsWith('INVALID_OPTION', 'nested deeper than 550 levels'))
    }
    assert.is((await runtime.spawn(agentOf([]).definition, { id: 'one', history })).id, 'one')
  })

  it('may end with something that a person said', async ({ cleanup }) => {
    const { model, definition } = agentOf(['Yes.'])
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition, { history: [{ role: 'user', content: 'Hello' }] })
    assert.is(agent.state, 'idle')
    await agent.prompt('Anyone?').result
    const [merged, ...others] = model.requests[0]!.messages
    assert.equal(others, [])
    assert.equal(
      merged!.content.map((block) => block.type === 'text' && block.text.split('\n')[0]),
      ['Hello', 'Anyone?'],
    )
  })

  it('is opened once: a second opening does not bring its history again', async ({ cleanup }) => {
    const { definition } = agentOf([])
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const agent = await runtime.open('one', definition, { history })
    assert.is(await runtime.open('one', definition, { history }), agent)
    assert.is(agent.conversation.trunk().length, 5)
    await assert.rejects(runtime.spawn(definition, { id: 'one', history }), failsWith('AGENT_EXISTS'))
  })

  it('whose history was cut off by a crash is refused, and finished when it is spawned again', async ({ cleanup }) => {
    const { definition } = agentOf([])
    const whole = memoryStore()
    const first = await createRuntime({ store: whole })
    await first.spawn(definition, { id: 'one', history })
    const records = await recordsOf(whole, 'one')
    await first.close()
    for (let kept = 1; kept < records.length; kept += 1) {
      const store = memoryStore()
      const lease = await store.open('one')
      await store.append('one', records.slice(0, kept))
      await lease.release()
      const runtime = await createRuntime({ store })
      cleanup(() => runtime.close())
      await assert.rejects(runtime.resume('one', definition), failsWith('AGENT_NOT_FOUND'))
      await assert.rejects(
        runtime.spawn(definition, { id: 'one', history: [{ role: 'user', content: 'other' }] }),
        failsWith('AGENT_EXISTS'),
      )
      const agent = await (kept % 2 === 0
        ? runtime.spawn(definition, { id: 'one', history })
        : runtime.open('one', definition, { history }))
      assert.is(agent.conversation.trunk().length, 5)
      assert.is(agent.lastSeq, records.length)
    }
  })
})

const user = { role: 'user', content: 'Hello' } as const
const call = (callId: string): HistoryMessage => ({
  role: 'assistant',
  content: [{ type: 'toolCall', callId, name: 'look', input: {} }],
})
const result = (callId: string): HistoryMessage => ({ role: 'toolResult', callId, toolName: 'look', content: 'x' })

const wrong: readonly [string, unknown, string][] = [
  ['no list', { role: 'user' }, 'history: it is not a list of messages'],
  ['another role', [{ role: 'system', content: 'x' }], 'history: message 0: role'],
  ['nothing said', [user, { role: 'assistant', content: ' ' }], 'history: message 1: content: the content is empty'],
  ['an answer first', [{ role: 'assistant', content: 'x' }], 'the first message is assistant, not user'],
  ['a call without a result', [user, call('a')], 'call a of message 1 is never answered'],
  [
    'a call answered too late',
    [user, call('a'), user, result('a')],
    'call a of message 1 is not answered before message 2',
  ],
  ['a result without a call', [user, result('a')], 'message 1 answers call a, which is not open'],
  [
    'a call id used twice',
    [user, call('a'), result('a'), call('a'), result('a')],
    'call id a of message 3 is used twice',
  ],
  [
    'a result of another tool',
    [user, call('a'), { ...result('a'), toolName: 'see' }],
    'message 2 is a result of "see", but "a" calls "look"',
  ],
  [
    'two answers in a row',
    [user, { role: 'assistant', content: 'x' }, { role: 'assistant', content: 'y' }],
    'messages 1 and 2 are both assistant',
  ],
  ['too many messages', Array.from({ length: 10_001 }, () => user), 'it has 10001 messages, and 10000 are the most'],
]

describe('a history that no model would take', (it) => {
  for (const [title, given, says] of wrong)
    it(`is refused: ${title}`, async ({ cleanup }) => {
      const { definition } = agentOf([])
      const store = memoryStore()
      const runtime = await createRuntime({ store })
      cleanup(() => runtime.close())
      await assert.rejects(
        runtime.spawn(definition, { id: 'one', history: given as HistoryMessage[] }),
        failsWith('INVALID_OPTION', says),
      )
      assert.equal(await store.list(), [])
    })
})

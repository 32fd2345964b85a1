import { policyModel } from '../../models/src/policyModel.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { acp } from '../../../src/acp.ts'
import { rightsOfRole } from '../../wire/src/rights.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { z } from 'zod'
import { assert, describe } from '../../../test/support/suite.ts'
import { errorOf, openHouse, silentModel } from './acpHarness.ts'

const look = defineTool({
  name: 'read_file',
  description: 'Read.',
  input: z.object({ path: z.string() }),
  run: ({ path }) => `text of ${path}`,
})

const reader = (name = 'reader') =>
  defineAgent({
    name,
    model: policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult'
        ? { thinking: 'it says', text: 'read it' }
        : {
            text: 'reading',
            toolCalls: [{ name: 'read_file', input: { path: 'a.ts' }, callId: `c${messages.length}` }],
          },
    ),
    tools: [look],
  })

describe('a session of ACP', (it) => {
  it('comes back from its log with its whole past after a restart', async (context) => {
    const store = memoryStore()
    const first = await openHouse(context, [reader()], { store })
    const editor = await first.connect()
    const sessionId = await editor.open()
    await editor.say(sessionId, 'please')
    await first.runtime.agent(sessionId)!.close()

    const second = await first.connect()
    const params = { sessionId, cwd: '/', mcpServers: [] }
    assert.equal(await second.agent.request('session/load', params), {
      _meta: { escapement: { definition: 'reader' } },
    })
    assert.equal(
      second.updates.map((update) => [update.sessionUpdate, 'status' in update ? update.status : '']),
      [
        ['user_message_chunk', ''],
        ['agent_message_chunk', ''],
        ['tool_call', 'pending'],
        ['tool_call_update', 'completed'],
        ['agent_thought_chunk', ''],
        ['agent_message_chunk', ''],
      ],
    )
    assert.is(second.text('user_message_chunk'), 'please')
    assert.match(JSON.stringify(second.updates[2]), /"kind":"read"/)
    assert.is((await second.say(sessionId, 'more')).stopReason, 'end_turn')
  })

  it('goes on without its past when it is resumed', async (context) => {
    const { connect, runtime } = await openHouse(context, [reader()])
    const editor = await connect()
    const sessionId = await editor.open()
    await editor.say(sessionId, 'please')
    await runtime.agent(sessionId)!.close()
    const other = await connect()
    await other.agent.request('session/resume', { sessionId, cwd: '/' })
    assert.is(other.updates.length, 0)
    assert.is((await other.say(sessionId, 'more')).stopReason, 'end_turn')
    assert.ok(other.text().includes('read it'))
  })

  it('is told to everyone who has it open, with what others say', async (context) => {
    const { connect } = await openHouse(context, [reader()])
    const [one, two] = [await connect(), await connect()]
    const sessionId = await one.open()
    await two.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    await one.say(sessionId, 'from one')
    await two.until((update) => update.sessionUpdate === 'agent_thought_chunk')
    assert.is(two.text('user_message_chunk'), 'from one')
    assert.is(one.text('user_message_chunk'), '')
  })

  it('joins a reply in the middle without a gap or a repeat', async (context) => {
    const gate = Promise.withResolvers<void>()
    const model = {
      id: 'test:slow',
      async *stream() {
        yield { type: 'text.delta', text: 'one ' } as const
        await gate.promise
        yield { type: 'text.delta', text: 'two' } as const
        const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
        const content = [{ type: 'text', text: 'one two' }] as const
        yield { type: 'done', reply: { content, stopReason: 'stop', usage } } as const
      },
    }
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = editor.say(sessionId, 'x')
    await editor.until((update) => update.sessionUpdate === 'agent_message_chunk')
    const other = await connect()
    await other.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    assert.is(other.text(), 'one ')
    gate.resolve()
    await turn
    await other.until(
      (update) => update.sessionUpdate === 'agent_message_chunk' && JSON.stringify(update).includes('two'),
    )
    assert.is(other.text(), 'one two')
    assert.is(editor.text(), 'one two')
  })

  it('takes one prompt at a time', async (context) => {
    const gate = Promise.withResolvers<string>()
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model: policyModel(() => gate.promise) })])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = editor.say(sessionId, 'x')
    const error = await errorOf(editor.say(sessionId, 'y'))
    assert.is(error.code, -32600)
    assert.equal(error.data, { code: 'QUEUE_FULL', sessionId })
    gate.resolve('ok')
    assert.is((await turn).stopReason, 'end_turn')
  })

  it('goes on when its connection closes', async (context) => {
    const gate = Promise.withResolvers<string>()
    const begun = Promise.withResolvers<void>()
    const model = policyModel(() => {
      begun.resolve()
      return gate.promise
    })
    const { connect, runtime } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = errorOf(editor.say(sessionId, 'x'))
    await begun.promise
    editor.connection.close()
    await turn
    const agent = runtime.agent(sessionId)!
    const ended = new Promise((resolve) =>
      agent.subscribe((event) => event.type === 'run.end' && resolve(event.stopReason)),
    )
    gate.resolve('done all the same')
    assert.is(await ended, 'stop')
  })

  it('ends with its run when the client closes it, and can be loaded again', async (context) => {
    const { model, begun } = silentModel()
    const { connect, runtime } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = editor.say(sessionId, 'x')
    await begun.promise
    await editor.agent.request('session/close', { sessionId })
    assert.is((await turn).stopReason, 'cancelled')
    assert.is(runtime.agent(sessionId), undefined)
    assert.is((await errorOf(editor.say(sessionId, 'y'))).code, -32002)
    await editor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    assert.is(editor.text('user_message_chunk'), 'x')
  })

  it('is spawned of the definition the client names, else the endpoint’s, else the first', async (context) => {
    const { connect, runtime } = await openHouse(context, [reader('one'), reader('two')])
    const nameOf = async (editor: Awaited<ReturnType<typeof connect>>, meta?: Record<string, unknown>) =>
      runtime.agent(await editor.open(meta))?.definition
    const plain = await connect()
    const { _meta: meta } = plain.hello
    assert.equal(meta?.['escapement'], { definitions: ['one', 'two'], may: rightsOfRole.admin })
    assert.is(await nameOf(plain), 'one')
    assert.is(await nameOf(plain, { escapement: { definition: 'two' } }), 'two')
    const told = await connect({ acp: { definition: 'two' } })
    assert.is(await nameOf(told), 'two')
    assert.is(await nameOf(told, { escapement: { definition: 'one' } }), 'one')
  })

  for (const [what, meta, cwd] of [
    ['an unknown definition', { escapement: { definition: 'nobody' } }, '/'],
    ['a definition that is no name', { escapement: { definition: 1 } }, '/'],
    ['a relative folder', {}, 'src'],
  ] as const) {
    it(`is refused for ${what}`, async (context) => {
      const { connect, runtime } = await openHouse(context, [reader()])
      const editor = await connect()
      const error = await errorOf(editor.agent.request('session/new', { cwd, mcpServers: [], _meta: meta }))
      assert.is(error.code, -32602)
      assert.equal(error.data, { code: 'INVALID_OPTION' })
      assert.is(runtime.agents().length, 0)
    })
  }

  it('is not found when there is none, and a sub-agent is none', async (context) => {
    const { connect, runtime } = await openHouse(context, [reader()])
    const editor = await connect()
    const load = (sessionId: string) =>
      errorOf(editor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] }))
    assert.equal((await load('nobody')).data, { code: 'AGENT_NOT_FOUND', sessionId: 'nobody' })
    assert.is((await load('nobody')).code, -32002)
    assert.is((await load('../etc')).code, -32602)
    const child = await (await runtime.spawn(reader())).spawn(reader('child'))
    assert.is((await load(child.id)).code, -32002)
    const stopped = await editor.open()
    await runtime.agent(stopped)!.stop()
    assert.equal((await load(stopped)).data, { code: 'AGENT_STOPPED', sessionId: stopped })
    assert.is((await errorOf(editor.say('nobody', 'x'))).code, -32002)
  })

  it('is in the list by what was said first, with the folder in which it was begun', async (context) => {
    const { connect, runtime } = await openHouse(context, [reader()])
    const editor = await connect()
    const begun = await editor.agent.request('session/new', { cwd: '/home/me/', mcpServers: [] })
    const { sessionId } = begun
    await editor.say(sessionId, 'first\nwords')
    const listed = async (cwd?: string) =>
      (await editor.agent.request('session/list', cwd === undefined ? {} : { cwd })).sessions
    for (const cwd of ['/home/me', '/home/me/', undefined]) {
      const { updatedAt, ...session } = (await listed(cwd))[0]!
      assert.match(updatedAt ?? '', /^\d{4}-.*Z$/)
      assert.equal(session, {
        sessionId,
        cwd: '/home/me/',
        title: 'first words',
        _meta: { escapement: { definition: 'reader' } },
      })
    }
    const elsewhere = await runtime.spawn(reader())
    assert.equal(
      (await listed('/home')).map((session) => [session.sessionId, session.cwd]),
      [[elsewhere.id, '/home']],
    )
    assert.is((await listed()).find((session) => session.sessionId === elsewhere.id)?.cwd, '/')
    assert.is((await errorOf(editor.agent.request('session/list', { cursor: 'x' }))).code, -32602)
  })

  it('is begun in a folder whose name is too long to be noted', async (context) => {
    const { connect } = await openHouse(context, [reader()])
    const editor = await connect()
    const cwd = `/${'x'.repeat(5_000)}`
    await editor.agent.request('session/new', { cwd, mcpServers: [] })
    assert.equal(
      (await editor.agent.request('session/list', {})).sessions.map((session) => session.cwd),
      ['/'],
    )
  })

  it('is in the list by what was said first and no guard refused', async (context) => {
    const guarded = defineAgent({
      name: 'guarded',
      model: policyModel(() => 'well'),
      guards: { input: [({ text }) => (text.includes('1234') ? { refuse: 'no passwords' } : { ok: true })] },
    })
    const { connect } = await openHouse(context, [guarded])
    const editor = await connect()
    const sessionId = await editor.open()
    const titles = async () => (await editor.agent.request('session/list', {})).sessions.map(({ title }) => title)
    await editor.say(sessionId, 'it is 1234')
    assert.equal(await titles(), ['guarded'])
    await editor.say(sessionId, 'good day')
    await editor.say(sessionId, 'and good night')
    assert.equal(await titles(), ['good day'])
  })

  it('is in the list by pages, the last written first, whether it runs or not', async (context) => {
    const { connect, runtime } = await openHouse(context, [reader()])
    const editor = await connect()
    const ids: string[] = []
    for (let index = 0; index < 51; index += 1) ids.push(await editor.open())
    const other = await runtime.spawn(reader('not-served'))
    const ended = await runtime.spawn(reader())
    await ended.stop()
    await (await runtime.spawn(reader('not-served'))).close()
    await runtime.agent(ids[9]!)!.close()
    await editor.say(ids[7]!, 'hello')
    const first = await editor.agent.request('session/list', {})
    assert.is(first.sessions.length, 50)
    assert.is(first.sessions[0]?.title, 'hello')
    const second = await editor.agent.request('session/list', { cursor: first.nextCursor ?? null })
    assert.is(second.nextCursor, undefined)
    const seen = [...first.sessions, ...second.sessions].map((session) => session.sessionId)
    assert.equal(seen.toSorted(), [...ids, other.id].toSorted())
    const [stranger] = (
      await (await connect({ grant: { role: 'observe', agents: [ids[3]!] } })).agent.request('session/list', {})
    ).sessions
    assert.is(stranger?.sessionId, ids[3])
  })

  it('looks at the store twice at most for many who ask at the same time', async (context) => {
    let lists = 0
    const gate = Promise.withResolvers<void>()
    const memory = memoryStore()
    const list = async (): Promise<readonly string[]> => {
      lists += 1
      await gate.promise
      return await memory.list()
    }
    const { connect } = await openHouse(context, [reader()], { store: { ...memory, list } })
    const editor = await connect()
    await editor.open()
    const asked = Array.from({ length: 50 }, () => editor.agent.request('session/list', {}))
    // Once this is answered all those before it are being worked on.
    await editor.open()
    gate.resolve()
    await Promise.all(asked)
    // Those who came while the store was looked at share the next look, which has what was written meanwhile.
    assert.ok(lists <= 2, `${lists} looks`)
  })

  it('needs a role: to look on for loading, to drive for prompts, admin for a new one', async (context) => {
    const { connect } = await openHouse(context, [reader()])
    const sessionId = await (await connect()).open()
    const load = { sessionId, cwd: '/', mcpServers: [] }
    const visitor = await connect({ grant: { role: 'observe' } })
    await visitor.agent.request('session/load', load)
    const refused = await errorOf(visitor.say(sessionId, 'x'))
    assert.is(refused.code, -32600)
    assert.equal(refused.data, { code: 'BRIDGE_FORBIDDEN', sessionId })
    assert.equal((await errorOf(visitor.agent.request('session/close', { sessionId }))).data, refused.data)
    const driver = await connect({ grant: { role: 'drive' } })
    await driver.agent.request('session/load', load)
    assert.is((await driver.say(sessionId, 'x')).stopReason, 'end_turn')
    assert.equal((await errorOf(driver.open())).data, { code: 'BRIDGE_FORBIDDEN' })
    const stranger = await connect({ grant: { role: 'admin', agents: ['another'] } })
    assert.equal((await errorOf(stranger.agent.request('session/load', load))).data, refused.data)
  })

  it('may be open so many times', async (context) => {
    const { connect } = await openHouse(context, [reader()], { limits: { subscriptions: 1 } })
    const editor = await connect()
    const sessionId = await editor.open()
    assert.equal((await errorOf(editor.open())).data, { code: 'BRIDGE_LIMIT' })
    await editor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
  })

  it('refuses an endpoint with options that are none', () => {
    assert.throws(() => acp({ definition: '' }), /acp: definition/)
    assert.throws(() => acp({ agent: 'x' } as object), /acp: .*agent/)
  })
})

import { defineAgent } from '../../../define/src/defineAgent.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { errorOf, openHouse, silentModel } from '../../../acp/test/acpHarness.ts'
import { openRun } from '../../../ag-ui/src/openRun.ts'
import { Chats } from '../../../ai-sdk/src/openChat.ts'
import { readChatInput } from '../../../ai-sdk/src/readChat.ts'
import { answerAgent, callAgent, type Caller } from '../../../mcp/src/server/callAgent.ts'
import type { AgentTool } from '../../../mcp/src/server/agentTool.ts'
import type { AgentAccess } from '../../src/server/agentAccess.ts'

const message = { id: 'm', role: 'user' } as const
const chat = { id: 'a', messages: [{ ...message, parts: [{ type: 'text', text: 'go' }] }] }
const run = { threadId: 'a', runId: 'r', messages: [{ ...message, content: 'go' }], tools: [], context: [] }
const tool = { definition: { name: 'worker' } } as unknown as AgentTool
const callerOf = (access: AgentAccess): Caller => ({ access }) as unknown as Caller
const chats = () => new Chats(undefined)
const open = (access: AgentAccess, more: object = {}) =>
  openRun(access, { ...run, ...more }, { threads: new WeakMap(), definition: undefined })

/** Requests of clients, each with the rights that it takes, whatever is found. */
const asked: readonly (readonly [
  what: string,
  ask: (access: AgentAccess) => Promise<unknown>,
  needs: readonly string[],
])[] = [
  ['a run of AG-UI', (access) => open(access), ['talk']],
  ['an abort over AG-UI', (access) => open(access, { forwardedProps: { command: 'abort' } }), ['talk']],
  ['a message of useChat', (access) => chats().open(access, readChatInput(chat)), ['talk']],
  [
    'another answer of useChat',
    (access) => chats().open(access, readChatInput({ ...chat, trigger: 'regenerate-message' })),
    ['talk', 'control'],
  ],
  ['the stream of a chat', (access) => chats().resume(access, 'a'), ['see.messages']],
  ['the end of a chat’s answer', (access) => chats().stop(access, 'a'), ['talk']],
  ['a task of MCP', (access) => callAgent(tool, { type: 'task', text: 'go' }, callerOf(access), true), ['talk']],
  ['a look of MCP', (access) => callAgent(tool, { type: 'look', session: 'a' }, callerOf(access), true), ['talk']],
  [
    'an answer of people over MCP',
    (access) => answerAgent(tool, { session: 'a', requestId: 'r' }, {}, callerOf(access)),
    ['talk'],
  ],
]

describe('rights are asked for before an agent is looked for', (it) => {
  for (const [what, ask, needs] of asked)
    it(`by ${what}: ${needs.join(' and ')}`, async () => {
      for (const lacking of [undefined, ...needs]) {
        const [seen, found]: [string[], string[]] = [[], []]
        const find = (how: string) => async (): Promise<never> => {
          found.push(how)
          throw new RuntimeError('RUNTIME_CLOSED', 'so far')
        }
        const access = {
          definitions: ['worker'],
          must(right: string) {
            seen.push(right)
            if (right === lacking) throw new RuntimeError('BRIDGE_FORBIDDEN', right)
          },
          driven: find('driven'),
          reading: find('reading'),
          begin: find('begin'),
          newId: () => 'new',
        }
        const thrown = await ask(access as unknown as AgentAccess).catch(
          (error: unknown) => (error as RuntimeError).code,
        )
        assert.is(thrown, lacking === undefined ? 'RUNTIME_CLOSED' : 'BRIDGE_FORBIDDEN')
        assert.is(found.length, lacking === undefined ? 1 : 0)
        if (lacking === undefined) assert.equal(seen, needs)
      }
    })

  it('by ACP: who may talk alone does not end a session, nor what is under way there', async (context) => {
    const { model, begun } = silentModel()
    const { connect, runtime } = await openHouse(context, [defineAgent({ name: 'silent', model })])
    const owner = await connect()
    const sessionId = await owner.open()
    owner.say(sessionId, 'go').catch(() => {})
    await begun.promise
    const place = { sessionId, cwd: '/', mcpServers: [] }
    const talker = await connect({ grant: { role: 'talk' } })
    await talker.agent.request('session/load', place)
    assert.match((await errorOf(talker.agent.request('session/close', { sessionId }))).message, 'control')
    const watcher = await connect({ grant: { role: 'observe' } })
    await watcher.agent.request('session/load', place)
    await watcher.agent.notify('session/cancel', { sessionId })
    await errorOf(watcher.agent.request('session/close', { sessionId }))
    const agent = runtime.agent(sessionId)!
    assert.match(agent.state, 'replying')
    await talker.agent.notify('session/cancel', { sessionId })
    await talker.agent.request('session/list', {})
    assert.is(agent.state, 'idle')
  })
})

import type { AgentContext } from '@agentclientprotocol/sdk'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { AcpSession } from '../../../acp/src/acpSession.ts'
import { AgUiRun } from '../../../ag-ui/src/agUiRun.ts'
import { Thread } from '../../../ag-ui/src/thread.ts'
import { ChatThread } from '../../../ai-sdk/src/chatThread.ts'
import { callAgent, type Caller } from '../../../mcp/src/server/callAgent.ts'
import type { AgentTool } from '../../../mcp/src/server/agentTool.ts'
import type { AgentAccess } from '../../src/server/agentAccess.ts'
import type { DrivenAgent } from '../../src/server/drivenAgent.ts'
import { limitsOf } from '../../src/server/limits.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 10; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** An agent that says what the case says, to as many as listen. */
function agentOf() {
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const agent = {
    id: 'a',
    definition: 'worker',
    path: [],
    parent: undefined,
    incognito: false,
    state: 'idle',
    pause: null,
    lastSeq: 0,
    clientTools: [],
    growingReply: undefined,
    spent: { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 0, turns: 0 },
    conversation: { head: null, trunk: () => [], log: () => [], abandoned: () => [], node: () => undefined },
    pending: () => [],
    approvals: () => [],
    children: () => [],
    tree: () => ({ id: 'a', state: 'idle', children: [] }),
    durable: () => undefined,
    wake: async () => {},
    abort: () => {},
    dispatch: () => ({ requestId: 'r', result: new Promise(() => {}) }),
    subscribe: (listener: (event: AgentEvent) => unknown) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const tell = (event: AgentEvent): void => {
    for (const listener of listeners) listener(event)
  }
  return { agent: agent as unknown as DrivenAgent, listeners, tell }
}
type Told = ReturnType<typeof agentOf>

const tool = { definition: { name: 'worker' } } as unknown as AgentTool

/** Doors that tell a client of an agent's events; each gives what it was told, and how it leaves if it can. */
const doors: Readonly<Record<string, (one: Told) => Promise<{ readonly told: unknown[]; leave(): void }>>> = {
  async ACP({ agent }) {
    const told: unknown[] = []
    const client = { notify: async (_: string, update: object) => void told.push(update) }
    const session = new AcpSession(agent, {
      access: { limits: limitsOf(), may: () => true } as unknown as AgentAccess,
      client: client as unknown as AgentContext,
      showsCompactions: true,
      hasForms: false,
      isClosed: () => false,
      disconnect: () => {},
    })
    return { told, leave: () => session.detach() }
  },
  async 'AG-UI'({ agent }) {
    const told: unknown[] = []
    const thread = new Thread(agent)
    const run = new AgUiRun(thread.activity, 'r', { isContinuation: true })
    run.observers.add({ take: (event) => void told.push(event), over: () => {} })
    thread.begin(run, () => undefined)
    return { told, leave: () => run.finish({ type: 'success' }) }
  },
  async useChat({ agent }) {
    const told: unknown[] = []
    const thread = new ChatThread(agent, async function* () {})
    const view = { take: (event: AgentEvent) => void told.push(event), wait: () => {}, abort: () => {} }
    await thread.follow()
    thread.add(view)
    thread.release()
    return { told, leave: () => thread.remove(view) }
  },
  async MCP({ agent }) {
    const told: unknown[] = []
    const access = { must: () => {}, may: () => true, begin: async () => agent, newId: () => 'r' }
    const leaving = new AbortController()
    const caller = {
      access,
      signal: leaving.signal,
      isCancelled: () => false,
      began: () => {},
      tell: (event: AgentEvent) => void told.push(event),
    }
    void callAgent(tool, { type: 'task', text: 'go' }, caller as unknown as Caller, true)
    await turns()
    return { told, leave: () => leaving.abort() }
  },
}

const event = (type: string, more: object): AgentEvent =>
  ({ v: 3, type, agentId: 'a', path: [], seq: 1, time: 0, runId: 'r', turnIndex: 0, ...more }) as never
const start = (words: string, more: object = {}): AgentEvent =>
  event('tool.start', { callId: words, key: words, name: words, input: { words }, ...more })

describe('what happens at an agent', (it) => {
  for (const [door, come] of Object.entries(doors))
    it(`is told without what nobody is to see, to who is still there: ${door}`, async () => {
      const one = agentOf()
      const { told, leave } = await come(one)
      const heard = async (): Promise<string> => {
        await turns()
        return JSON.stringify(told)
      }
      one.tell(start('seen'))
      one.tell(start('unseen', { incognito: true }))
      one.tell(start('unseen below', { incognito: true, agentId: 'a.1', path: ['a'] }))
      assert.match(await heard(), 'seen')
      assert.not.ok((await heard()).includes('unseen'), await heard())
      leave()
      await turns()
      assert.is(one.listeners.size, 0)
    })

  // What `useChat` shows of an error is made outward where it is shown.
  for (const [door, come] of Object.entries(doors).filter(([name]) => name !== 'useChat'))
    it(`is told without the paths of the server: ${door}`, async () => {
      const one = agentOf()
      const { told } = await come(one)
      const error = { code: 'STORE_APPEND_FAILED', message: 'could not write "/home/somebody/a.jsonl"' }
      one.tell(event('error', { error, v: undefined }))
      one.tell(event('run.end', { stopReason: 'error', error, usage: {}, turns: 0, costUsd: 0 }))
      await turns()
      assert.not.ok(JSON.stringify(told).includes('/home/somebody'), JSON.stringify(told))
    })
})

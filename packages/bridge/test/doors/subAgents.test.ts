import type { RunAgentInput } from '@ag-ui/core'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { openRun } from '../../../ag-ui/src/openRun.ts'
import { Chats } from '../../../ai-sdk/src/openChat.ts'
import { readChatInput } from '../../../ai-sdk/src/readChat.ts'
import { callAgent, type Caller } from '../../../mcp/src/server/callAgent.ts'
import type { AgentTool } from '../../../mcp/src/server/agentTool.ts'
import type { AgentAccess } from '../../src/server/agentAccess.ts'

const message = { id: 'm', role: 'user' } as const
const chat = readChatInput({ id: 'a.1', messages: [{ ...message, parts: [{ type: 'text', text: 'go' }] }] })
const input = {
  threadId: 'a.1',
  runId: 'r',
  messages: [{ ...message, content: 'go' }],
  tools: [],
  context: [],
} as unknown as RunAgentInput
const tool = { definition: { name: 'worker' } } as unknown as AgentTool

/** Ways to talk with an agent, or to look at it, by its id. */
const doors: Readonly<Record<string, (access: AgentAccess) => Promise<unknown>>> = {
  'AG-UI': (access) => openRun(access, input, { threads: new WeakMap(), definition: undefined }),
  useChat: (access) => new Chats(undefined).open(access, chat),
  'useChat, resumed': (access) => new Chats(undefined).resume(access, 'a.1'),
  'useChat, stopped': (access) => new Chats(undefined).stop(access, 'a.1'),
  'MCP, with a task': (access) =>
    callAgent(tool, { type: 'task', text: 'go', session: 'a.1' }, { access } as unknown as Caller, false),
  'MCP, looking': (access) => callAgent(tool, { type: 'look', session: 'a.1' }, { access } as unknown as Caller, false),
}

describe('a sub-agent', (it) => {
  for (const [door, talk] of Object.entries(doors))
    it(`is talked with by its parent alone, in this process or another: ${door}`, async () => {
      for (const parent of [undefined, {}]) {
        const agent = {
          id: 'a.1',
          path: ['a'],
          parent,
          definition: 'worker',
          wake: () => assert.unreachable(),
          dispatch: () => assert.unreachable(),
          abort: () => assert.unreachable(),
          subscribe: () => assert.unreachable(),
        }
        const find = async (): Promise<typeof agent> => agent
        const access = {
          must: () => {},
          driven: find,
          reading: find,
          works: () => true,
          newId: () => 'new',
          definitions: [],
        }
        await assert.rejects(talk(access as unknown as AgentAccess), (thrown: unknown) =>
          ['INVALID_OPTION', 'AGENT_NOT_FOUND'].some((code) => withCode(code, 'sub-agent')(thrown)),
        )
      }
    })
})

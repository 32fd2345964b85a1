import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import type { Right } from '../../../wire/src/rights.ts'
import { frames, needed } from '../server/commandFrames.ts'
import { fetched, over, type Asking } from './talks.ts'
import type { Keys, Place } from './world.ts'

/** Something that a client asks for at a door. */
export interface Operation {
  readonly door: string
  readonly name: string
  /** All of them, and the agent within reach where it is about one. */
  readonly needs: readonly Right[]
  readonly isOfAgent: boolean
  /** Something is different after it. */
  readonly changes: boolean
  /** Rights that an agent at rest is woken with, though nothing is carried out. */
  readonly wakes?: readonly Right[]
  /** It is asked what waits for people, if it may decide any of it, and says yes. */
  readonly saysYes?: true
  /** Resolves with everything that was answered. */
  ask(asking: Asking): Promise<string>
}

const ws = ({ port }: Place, path: string): string => `ws://127.0.0.1:${port}${path}`

/** Bridge: one frame of each command. */
const commands = Object.entries(frames).flatMap(([type, some]): Operation[] =>
  some.map((frame) => {
    const isAnswer = (frame as { decision?: string }).decision === 'answer'
    const needs = isAnswer ? 'answer.own' : needed[type as keyof typeof needed]
    const isOfAgent = 'agentId' in frame
    return {
      door: 'bridge',
      name: `${type} ${(frame as { decision?: string }).decision ?? ''}`,
      needs: [needs],
      isOfAgent,
      changes: !['see.messages', 'see.all', 'operate'].includes(needs),
      ask: ({ place, token, agent, keys }) =>
        over(ws(place, '/bridge'), token, [bridgeProtocol], async ({ send, until }) => {
          send({ type: 'hello' })
          const { callId } = frame as { callId?: string }
          // Decisions are about what waits there.
          const named = callId === undefined ? {} : { callId: isAnswer ? keys.question : keys.approval }
          send({
            ...frame,
            ...(isOfAgent ? { agentId: agent } : type === 'agent.spawn' ? { definition: 'worker' } : {}),
            ...named,
            type,
            id: 'x',
          })
          const answer = await until(({ id }) => id === 'x')
          if (type === 'agent.subscribe' && answer?.type === 'ok') await until((one) => one.type === 'caughtUp')
          if (type === 'agent.watch' && answer?.type === 'ok') await until((one) => one.type === 'agents')
        }),
    }
  }),
)

/** Operations that show the arguments and the result of a call, which is what a sub-agent was told and said. */
const below: Operation[] = ['agent.snapshot', 'agent.conversation', 'agent.subscribe', 'agent.past'].flatMap((type) =>
  commands
    .filter(({ name }) => name === `${type} `)
    .map((command) => ({
      ...command,
      name: `${type} of its sub-agent`,
      ask: (asking) => command.ask({ ...asking, agent: `${asking.agent}.1` }),
    })),
)

const ofAgent = (
  door: string,
  name: string,
  needs: readonly Right[],
  ask: Operation['ask'],
  more: Partial<Operation> = {},
): Operation => ({ door, name, needs, ask, isOfAgent: true, changes: true, ...more })

const reads = { changes: false } as const

const plain: Operation[] = ['json', 'mmd'].map((format) =>
  ofAgent(
    'http',
    `chart.${format}`,
    ['see.all'],
    (asking) => fetched(asking, `/agents/${asking.agent}/chart.${format}`),
    reads,
  ),
)

const userMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'WORDS-mine' }] }
const chatBody = (agent: string, more: object): object => ({
  id: agent,
  trigger: 'submit-message',
  messages: [userMessage],
  ...more,
})
const answered = (key: string, answer: unknown): object => ({
  messages: [userMessage, { id: 'a', role: 'assistant', parts: [] }],
  answers: { [key]: answer },
})
const nothing: Pick<Asking, 'agent' | 'keys'> = { agent: '', keys: { approval: '', question: '', call: '' } }
const talking = ['see.messages', 'talk'] as const

/** Requests of `useChat`, and the replies it takes. */
const chatSays = ({
  agent,
  keys,
}: Pick<Asking, 'agent' | 'keys'>): Readonly<Record<string, readonly [readonly Right[], object]>> => ({
  prompt: [talking, chatBody(agent, {})],
  approve: [[...talking, 'approve'], chatBody(agent, answered(keys.approval, 'approve'))],
  answer: [[...talking, 'answer.own'], chatBody(agent, answered(keys.question, { value: true }))],
  'prompt, and approve': [[...talking, 'approve'], chatBody(agent, { answers: { [keys.approval]: 'approve' } })],
  regenerate: [[...talking, 'control'], chatBody(agent, { trigger: 'regenerate-message' })],
  'prompt under two ids': [talking, chatBody(agent, { threadId: 'mine' })],
  'prompt as if it were MCP': [talking, chatBody(agent, { jsonrpc: '2.0' })],
})

/** Where nothing waits yet, only what is said is left of it. */
const wakesOf = (name: string): Partial<Operation> => (name === 'prompt, and approve' ? { wakes: talking } : {})

/** An answer to what was cut off has it go on, and ask again. */
const resumes = (name: string): Partial<Operation> =>
  name === 'approve' || name === 'answer' ? { wakes: [...talking, 'control'] } : {}

const chats: Operation[] = [
  ...Object.entries(chatSays(nothing)).flatMap(([name, [needs]]): Operation[] => [
    ofAgent(
      'useChat',
      name,
      needs,
      (asking) => fetched(asking, '/api/chat', { method: 'POST', body: chatSays(asking)[name]![1] }),
      wakesOf(name),
    ),
    ofAgent(
      'useChat socket',
      name,
      needs,
      (asking) =>
        over(ws(asking.place, '/api/chat'), asking.token, [], async ({ send, until }) => {
          const [, body] = chatSays(asking)[name]!
          send({ type: 'send', requestId: 'r', id: asking.agent, body })
          await until(({ type, requestId }) => requestId === 'r' && (type === 'end' || type === 'error'))
        }),
      wakesOf(name),
    ),
  ]),
  ofAgent('useChat', 'messages', ['see.messages'], (asking) => fetched(asking, `/api/chat/${asking.agent}`), reads),
  ofAgent(
    'useChat',
    'stream',
    ['see.messages'],
    (asking) => fetched(asking, `/api/chat/${asking.agent}/stream`),
    reads,
  ),
  ofAgent(
    'useChat',
    'messages of its sub-agent',
    ['see.messages'],
    (asking) => fetched(asking, `/api/chat/${asking.agent}.1`),
    reads,
  ),
  ofAgent('useChat', 'stop', talking, (asking) =>
    fetched(asking, `/api/chat/${asking.agent}/stream`, { method: 'DELETE' }),
  ),
]

const run = (agent: string, more: object): object => ({
  threadId: agent,
  runId: 'r1',
  messages: [],
  tools: [],
  context: [],
  protocolVersion: '1.0',
  ...more,
})
const resumed = (agent: string, key: string, payload: object): object =>
  run(agent, { resume: [{ interruptId: key, status: 'resolved', payload }] })

const runs = ({
  agent,
  keys,
}: Pick<Asking, 'agent' | 'keys'>): Readonly<Record<string, readonly [readonly Right[], object]>> => ({
  prompt: [talking, run(agent, { messages: [{ id: 'm1', role: 'user', content: 'WORDS-mine' }] })],
  approve: [[...talking, 'approve'], resumed(agent, keys.approval, { approved: true })],
  answer: [[...talking, 'answer.own'], resumed(agent, keys.question, { value: true })],
  abort: [talking, run(agent, { forwardedProps: { command: 'abort' } })],
})

const agUiRuns = Object.entries(runs(nothing)).flatMap(([name, [needs]]): Operation[] => [
  ofAgent(
    'AG-UI',
    name,
    needs,
    (asking) => fetched(asking, '/ag-ui', { method: 'POST', body: runs(asking)[name]![1] }),
    resumes(name),
  ),
  ofAgent(
    'AG-UI socket',
    name,
    needs,
    (asking) =>
      over(ws(asking.place, '/ag-ui'), asking.token, [], async ({ send, until }) => {
        send(runs(asking)[name]![1])
        await until(({ type }) => type === 'RUN_ERROR' || type === 'RUN_FINISHED')
      }),
    resumes(name),
  ),
])

type AcpCall = readonly [method: string, params: object]

/** An editor that says yes to whatever it is asked. */
const editor =
  (calls: (agent: string) => readonly AcpCall[]): Operation['ask'] =>
  ({ place, token, agent }) =>
    over(
      ws(place, '/acp'),
      token,
      [],
      async ({ send, until }) => {
        const all: readonly AcpCall[] = [
          ['initialize', { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } }],
          ...calls(agent),
        ]
        for (const [id, [method, params]] of all.entries()) {
          if (method === 'session/cancel') send({ jsonrpc: '2.0', method, params })
          else send({ jsonrpc: '2.0', id, method, params })
          if (method !== 'session/cancel') await until((one) => one.id === id && one.method === undefined)
        }
        // What is asked comes after the answer.
        for (const id of ['then', 'and then']) {
          send({ jsonrpc: '2.0', id, method: 'session/list', params: {} })
          await until((one) => one.id === id)
        }
      },
      ({ id, method, params }, send) => {
        if (method === 'session/request_permission')
          send({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow' } } })
        if (method === 'elicitation/create')
          send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { value: true, ...params } } })
      },
    )

const folder = { cwd: '/', mcpServers: [] }
const loaded = (sessionId: string): AcpCall => ['session/load', { sessionId, ...folder }]
const saysYes = { saysYes: true } as const

const acpCalls: Operation[] = [
  {
    ...ofAgent(
      'ACP',
      'list',
      ['see.messages'],
      editor(() => [['session/list', {}]]),
      reads,
    ),
    isOfAgent: false,
  },
  {
    ...ofAgent(
      'ACP',
      'new',
      ['see.messages', 'spawn'],
      editor(() => [['session/new', folder]]),
    ),
    isOfAgent: false,
  },
  ofAgent(
    'ACP',
    'load',
    ['see.messages', 'approve'],
    editor((agent) => [loaded(agent)]),
    saysYes,
  ),
  ofAgent(
    'ACP',
    'prompt',
    talking,
    editor((agent) => [
      loaded(agent),
      ['session/prompt', { sessionId: agent, prompt: [{ type: 'text', text: 'WORDS-mine' }] }],
    ]),
    saysYes,
  ),
  ofAgent(
    'ACP',
    'cancel',
    talking,
    editor((agent) => [loaded(agent), ['session/cancel', { sessionId: agent }]]),
    saysYes,
  ),
  ofAgent(
    'ACP',
    'close',
    ['see.messages', 'control'],
    editor((agent) => [loaded(agent), ['session/close', { sessionId: agent }]]),
    saysYes,
  ),
]

/** A client of MCP with a person who says yes. */
const mcpCall =
  (method: string, params: (agent: string, keys: Keys) => object): Operation['ask'] =>
  async (asking) => {
    const accept = 'application/json, text/event-stream'
    const clientInfo = { name: 'test', version: '1.0.0' }
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    }
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params(asking.agent, asking.keys), _meta: meta } }
    const name = (body.params as { name?: string }).name
    const headers = {
      accept,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    }
    return await fetched(asking, '/mcp', { method: 'POST', body, headers })
  }

const yes = (agent: string, { approval: key }: Keys): object => {
  const state = Buffer.from(JSON.stringify({ session: agent, tries: 0, shown: { [key]: '' } })).toString('base64url')
  return { requestState: `${state}.AAAA`, inputResponses: { [key]: { action: 'accept', content: { approve: true } } } }
}

const mcpCalls: Operation[] = [
  {
    ...ofAgent(
      'MCP',
      'list',
      [],
      mcpCall('tools/list', () => ({})),
      reads,
    ),
    isOfAgent: false,
  },
  {
    ...ofAgent(
      'MCP',
      'new',
      [...talking, 'spawn'],
      mcpCall('tools/call', () => ({ name: 'worker', arguments: { task: 'x' } })),
    ),
    isOfAgent: false,
  },
  ofAgent(
    'MCP',
    'look',
    talking,
    mcpCall('tools/call', (agent) => ({ name: 'worker', arguments: { session: agent } })),
  ),
  ofAgent(
    'MCP',
    'task',
    talking,
    mcpCall('tools/call', (agent) => ({ name: 'worker', arguments: { session: agent, task: 'x' } })),
  ),
  ofAgent(
    'MCP',
    'say yes',
    [...talking, 'approve'],
    mcpCall('tools/call', (agent, keys) => ({ name: 'worker', arguments: { session: agent }, ...yes(agent, keys) })),
    { wakes: talking },
  ),
]

const inspecting: Operation = {
  door: 'stately',
  name: 'watch',
  needs: ['see.all'],
  isOfAgent: false,
  changes: false,
  ask: ({ place, token }) =>
    over(ws(place, '/stately'), token, [], async ({ send, until }) => {
      // A gateway asks a worker once something is said.
      send({})
      await until(() => true)
    }),
}

/** Everything that can be asked for, at every door. */
export const operations: readonly Operation[] = [
  ...commands,
  ...below,
  ...plain,
  ...chats,
  ...agUiRuns,
  ...acpCalls,
  ...mcpCalls,
  inspecting,
]

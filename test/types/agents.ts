import { z } from 'zod'
import {
  type Agent,
  type AgentEvent,
  type Content,
  type ConversationNode,
  createRuntime,
  defineAgent,
  defineTool,
  type EventOf,
  fileStore,
  type LogRecord,
  memoryStore,
  policyModel,
  type RecordOf,
  type Run,
  type RunResult,
  type Runtime,
  type Store,
  type Tool,
  type ToolContext,
} from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

// A tool's run gets what its schema puts out, defaults and transforms applied.
const tool = defineTool({
  name: 'read_file',
  description: 'Read a file.',
  input: z.object({
    path: z.string(),
    lines: z.number().default(10),
    since: z.string().transform((text) => new Date(text)),
  }),
  needsApproval: (input) => {
    expectType<Equal<typeof input.lines, number>>()
    return input.path.startsWith('/')
  },
  run: (input, context) => {
    expectType<Equal<typeof input, { path: string; lines: number; since: Date }>>()
    expectType<Equal<typeof context, ToolContext>>()
    expectType<Equal<typeof context.signal, AbortSignal>>()
    // @ts-expect-error not in the schema
    return input.other as unknown
  },
})
expectType<
  Equal<typeof tool, Tool<unknown, 'read_file', { path: string; since: string; lines?: number | undefined }>>
>()

defineTool({
  name: 'mcp',
  description: 'Described elsewhere.',
  input: { jsonSchema: { type: 'object' } },
  run: (input) => {
    expectType<Equal<typeof input, { readonly [key: string]: unknown }>>()
    return input['x']
  },
})

// @ts-expect-error a tool needs a description
defineTool({ name: 'x', input: z.object({}), run: () => '' })
// @ts-expect-error a tool needs a schema
defineTool({ name: 'x', description: 'x', run: () => '' })
// @ts-expect-error a schema is no plain object
defineTool({ name: 'x', description: 'x', input: { path: 'string' }, run: () => '' })

const model = policyModel(() => 'hello')
const definition = defineAgent({
  name: 'coder',
  model,
  instructions: 'You fix bugs.',
  tools: [tool],
  limits: { turns: 5, ms: 1_000 },
})
// @ts-expect-error an agent needs a model
defineAgent({ name: 'x', instructions: 'x' })
// @ts-expect-error a limit that does not exist
defineAgent({ name: 'x', model, limits: { words: 5 } })
// @ts-expect-error a tool is made by defineTool
defineAgent({ name: 'x', model, tools: [{ name: 'x' }] })

// Events are told apart by their type.
export function describeEvent(event: AgentEvent): string {
  expectType<Equal<typeof event.seq, number>>()
  expectType<Equal<typeof event.path, readonly string[]>>()
  if (event.type === 'reply.delta') {
    expectType<Equal<typeof event, EventOf<'reply.delta'>>>()
    expectType<Equal<typeof event.text, string>>()
    return event.text + event.offset.toFixed()
  }
  // @ts-expect-error not every event has a text
  const { text } = event
  if (event.type === 'run.end') {
    expectType<Equal<typeof event.stopReason, 'stop' | 'length' | 'refusal' | 'paused' | 'aborted' | 'error'>>()
    return event.stopReason
  }
  if (event.type === 'tool.end') return event.message.content.length.toFixed()
  if (event.type === 'queue.changed') return event.queue
  // @ts-expect-error no such event
  if (event.type === 'reply.started') return ''
  return String(text)
}

expectType<Equal<RecordOf<'agent.stopped'>['type'], 'agent.stopped'>>()
// Every record is an event, of the same type.
expectType<Equal<Exclude<LogRecord['type'], AgentEvent['type']>, never>>()

// The way of the README.
export async function drive(): Promise<void> {
  const runtime = await createRuntime({ store: memoryStore() })
  expectType<Equal<typeof runtime, Runtime>>()
  const agent = await runtime.spawn(definition)
  const anyAgent: Agent = agent
  const run = agent.prompt('Fix it')
  const anyRun: Run = run
  void anyRun
  for await (const event of run) {
    const anyEvent: AgentEvent = event
    void anyEvent
    if (event.type === 'tool.start' && event.name === 'read_file') expectType<Equal<typeof event.input.path, string>>()
  }
  const result = await run.result
  expectType<Equal<typeof result, RunResult<undefined>>>()
  expectType<Equal<typeof result.text, string>>()
  expectType<Equal<typeof result.turns, number>>()
  agent.prompt(
    [
      { type: 'text', text: 'see' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
    { limits: { turns: 1 } },
  )
  agent.steer('no, the other')
  agent.followUp('then the tests')
  agent.abort()
  expectType<Equal<ReturnType<Agent['resume']>, Run>>()
  anyAgent.subscribe((event: AgentEvent) => event.type)
  agent.decide('c1', 'deny', 'no')
  // @ts-expect-error there is no third decision
  agent.decide('c1', 'maybe')
  // @ts-expect-error people do not think in blocks
  agent.prompt([{ type: 'thinking', text: 'hm' }])
  // @ts-expect-error limits are numbers
  agent.prompt('x', { limits: { turns: '5' } })
  const trunk = agent.conversation.trunk()
  expectType<Equal<typeof trunk, ConversationNode[]>>()
  const node = trunk[0]
  if (node?.message.role === 'toolResult') expectType<Equal<typeof node.message.callId, string>>()
  // @ts-expect-error the head moves by records alone
  agent.conversation.head = 5
  await runtime.close()
}

expectType<
  Equal<
    Content,
    | string
    | (
        | { type: 'text'; text: string }
        | { readonly type: 'image'; readonly data: string | Uint8Array; readonly mimeType: string }
        | { readonly type: 'image'; readonly url: string; readonly mimeType?: string }
        | {
            readonly type: 'file'
            readonly data: string | Uint8Array
            readonly mimeType: string
            readonly name?: string
          }
      )[]
  >
>()
export const stores: readonly Store[] = [memoryStore(), fileStore('folder')]

declare const agentOfApprovals: Agent

// What an approval is decided by is always there, and the decision can be matched to it.
agentOfApprovals.subscribe((event) => {
  if (event.type === 'approval.requested') agentOfApprovals.decide(event.key, 'approve')
  if (event.type === 'approval.decided') expectType<Equal<typeof event.key, string>>()
})

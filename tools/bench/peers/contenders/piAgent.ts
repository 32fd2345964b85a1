import type * as Core from '@earendil-works/pi-agent-core'
import type { AgentMessage, AgentTool, StreamFn } from '@earendil-works/pi-agent-core'
import type * as Ai from '@earendil-works/pi-ai'
import type { Type } from 'typebox'
import type {
  Api,
  AssistantMessage,
  AssistantMessageEventStream,
  JsonObject,
  Message,
  Model,
  Usage,
} from '@earendil-works/pi-ai'
import { pastText, type Contender, type Definition, type Session, type SessionOptions } from '../contender.ts'
import { answer, endsBurst, goesOn, never, textOf, tick, word, type AgentSpec, type ToolSpec } from '../script.ts'

/** Parts of pi's two packages that are used. */
export interface Pi extends Pick<typeof Core, 'Agent'>, Pick<typeof Ai, 'createAssistantMessageEventStream'> {
  readonly Type: Pick<typeof Type, 'Object' | 'Number' | 'String'>
}

/** pi-agent-core of some version: its `Agent`, with a stream function of our own in place of a provider. */
export const piAgent = (library: Pi): Contender => ({
  open: async () => ({ define: (spec) => define(library, spec), release: async () => {}, close: async () => {} }),
})

const usage: Usage = {
  input: 100,
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 120,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

const model: Model<Api> = {
  id: 'model',
  name: 'model',
  api: 'mock',
  provider: 'mock',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 8_192,
}

const emptyReply = (): AssistantMessage => ({
  role: 'assistant',
  content: [],
  api: model.api,
  provider: model.provider,
  model: model.id,
  usage,
  stopReason: 'stop',
  timestamp: Date.now(),
})

function define(library: Pi, spec: AgentSpec): Definition {
  const streamFn = streamOf(library, spec)
  const tools = spec.tools.map((tool) => toolOf(library, tool))
  const agents = (spec.agents ?? []).map((agent) => ({ name: agent.name, definition: define(library, agent) }))

  function create({ onDelta, history = 0 }: SessionOptions = {}): Session {
    const callable = agents.map(({ name, definition }) => agentTool(library, { name, definition, onDelta }))
    const messages = Array.from({ length: history }, (_, index) => pastMessage(index))
    const agent = new library.Agent({
      initialState: {
        model,
        systemPrompt: '',
        tools: callable.length === 0 ? tools : [...tools, ...callable],
        messages,
      },
      streamFn,
    })
    let turns = 0
    agent.subscribe((event) => {
      if (event.type === 'message_update') {
        if (event.assistantMessageEvent.type === 'text_delta') onDelta?.()
      } else if (event.type === 'turn_end') turns += 1
    })
    return {
      async prompt(text) {
        turns = 0
        await agent.prompt(text)
        const last = agent.state.messages.at(-1)
        const isAborted = last?.role === 'assistant' && last.stopReason === 'aborted'
        if (!isAborted && agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)
        return { how: isAborted ? 'aborted' : 'done', turns }
      },
      abort: () => agent.abort(),
      messages: () => agent.state.messages.filter(({ role }) => role !== 'system').length,
    }
  }

  return { create }
}

const toolOf = ({ Type }: Pi, { name, run }: ToolSpec): AgentTool => ({
  name,
  label: name,
  description: 'Takes a number.',
  parameters: Type.Object({ n: Type.Number() }),
  async execute(_id, input) {
    return { content: [{ type: 'text', text: await run(input as { n: number }) }], details: {} }
  },
})

interface AgentToolOptions {
  readonly name: string
  readonly definition: Definition
  readonly onDelta: (() => void) | undefined
}

/** An agent as a tool: a new one for each call, aborted with its caller. */
const agentTool = ({ Type }: Pi, { name, definition, onDelta }: AgentToolOptions): AgentTool => ({
  name,
  label: name,
  description: 'Takes a task.',
  parameters: Type.Object({ task: Type.String() }),
  async execute(_id, input, signal) {
    const session = await definition.create(onDelta === undefined ? {} : { onDelta })
    const abort = (): void => session.abort()
    signal?.addEventListener('abort', abort, { once: true })
    await session.prompt((input as { task: string }).task)
    signal?.removeEventListener('abort', abort)
    return { content: [{ type: 'text', text: 'done' }], details: {} }
  },
})

function pastMessage(index: number): AgentMessage {
  const text = pastText(index)
  return index % 2 === 0
    ? { role: 'user', content: text, timestamp: index }
    : { ...emptyReply(), content: [{ type: 'text', text }] }
}

const streamOf =
  ({ createAssistantMessageEventStream }: Pi, spec: AgentSpec): StreamFn =>
  (_model, { messages }, options) => {
    const stream = createAssistantMessageEventStream()
    void feed(spec, { stream, last: messages.at(-1)!, signal: options?.signal })
    return stream
  }

interface Feed {
  readonly stream: AssistantMessageEventStream
  readonly last: Message
  readonly signal: AbortSignal | undefined
}

/** Streams a reply as a provider does with the chunks of a response: one message that grows, with an event for each chunk. */
async function feed(spec: AgentSpec, { stream, last, signal }: Feed): Promise<void> {
  const reply = answer(spec, last.role === 'toolResult' ? last.toolCallId : undefined)
  if (reply.hang === 'model') await never()
  const message = emptyReply()
  const text = { type: 'text' as const, text: '' }
  const push = (): void => {
    text.text += word
    stream.push({ type: 'text_delta', contentIndex: 0, delta: word, partial: message })
  }
  stream.push({ type: 'start', partial: message })
  message.content.push(text)
  stream.push({ type: 'text_start', contentIndex: 0, partial: message })
  while (goesOn(reply, signal)) {
    push()
    await tick()
  }
  if (signal?.aborted === true) {
    message.stopReason = 'aborted'
    stream.push({ type: 'error', reason: 'aborted', error: message })
    return
  }
  const { deltas, calls } = reply
  for (let index = 0; index < deltas; index += 1) {
    push()
    if (endsBurst(index)) await tick()
  }
  stream.push({ type: 'text_end', contentIndex: 0, content: textOf(deltas), partial: message })
  for (const { callId, name, input } of calls) {
    const toolCall = { type: 'toolCall' as const, id: callId, name, arguments: { ...(input as JsonObject) } }
    const contentIndex = message.content.push(toolCall) - 1
    stream.push({ type: 'toolcall_start', contentIndex, partial: message })
    stream.push({ type: 'toolcall_end', contentIndex, toolCall, partial: message })
  }
  message.stopReason = calls.length === 0 ? 'stop' : 'toolUse'
  stream.push({ type: 'done', reason: message.stopReason, message })
}

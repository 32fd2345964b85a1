import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import { isStepCount, tool, ToolLoopAgent, type ModelMessage, type Tool } from 'ai'
import { z } from 'zod'
import { pastText, type Contender, type Definition, type Session, type SessionOptions } from '../contender.ts'
import { answer, endsBurst, goesOn, never, tick, word, type AgentSpec, type Reply, type ToolSpec } from '../script.ts'

/** The AI SDK: a `ToolLoopAgent` that streams; whoever uses it keeps the messages, as its guide says. */
export const aiSdk: Contender = {
  open: async () => ({ define, release: async () => {}, close: async () => {} }),
}

/** Enough for every workload; the default would end a run after 20. */
const stopWhen = isStepCount(1_000_000)

function define(spec: AgentSpec): Definition {
  const model = modelOf(spec)
  const tools = Object.fromEntries(spec.tools.map((each) => [each.name, toolOf(each)]))
  const agents = (spec.agents ?? []).map((agent) => ({ name: agent.name, definition: define(agent) }))
  const shared = new ToolLoopAgent({ model, tools, stopWhen })

  function create({ onDelta, history = 0 }: SessionOptions = {}): Session {
    const callable = Object.fromEntries(agents.map(({ name, definition }) => [name, agentTool(definition, onDelta)]))
    const agent =
      agents.length === 0 ? shared : new ToolLoopAgent({ model, tools: { ...tools, ...callable }, stopWhen })
    const messages: ModelMessage[] = Array.from({ length: history }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: pastText(index),
    }))
    let stop = new AbortController()
    return {
      async prompt(text) {
        stop = new AbortController()
        messages.push({ role: 'user', content: text })
        const result = await agent.stream({ messages, abortSignal: stop.signal })
        let turns = 0
        for await (const part of result.fullStream) {
          if (part.type === 'text-delta') onDelta?.()
          else if (part.type === 'finish-step') turns += 1
          else if (part.type === 'abort') return { how: 'aborted', turns }
          else if (part.type === 'error') throw part.error
        }
        messages.push(...(await result.responseMessages))
        return { how: 'done', turns }
      },
      abort: () => stop.abort(),
      // The results of one reply are one message here.
      messages: () => messages.reduce((sum, { role, content }) => sum + (role === 'tool' ? content.length : 1), 0),
    }
  }

  return { create }
}

const toolOf = ({ run }: ToolSpec): Tool =>
  tool({
    description: 'Takes a number.',
    inputSchema: z.object({ n: z.number() }),
    execute: async (input) => run(input),
  })

/** An agent as a tool that streams to the same subscriber, aborted with its caller. */
const agentTool = (definition: Definition, onDelta: (() => void) | undefined): Tool =>
  tool({
    description: 'Takes a task.',
    inputSchema: z.object({ task: z.string() }),
    async execute({ task }, { abortSignal }) {
      const session = await definition.create(onDelta === undefined ? {} : { onDelta })
      const abort = (): void => session.abort()
      abortSignal?.addEventListener('abort', abort, { once: true })
      await session.prompt(task)
      abortSignal?.removeEventListener('abort', abort)
      return 'done'
    },
  })

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
}

/** A model of the provider's interface. The one of `ai/test` keeps every request it ever saw. */
function modelOf(spec: AgentSpec): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'mock',
    modelId: 'model',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('It is only streamed.')),
    async doStream({ prompt, abortSignal }) {
      const last = prompt.at(-1)!
      const result = last.role === 'tool' ? last.content.at(-1) : undefined
      const reply = answer(spec, result?.type === 'tool-result' ? result.toolCallId : undefined)
      if (reply.hang === 'model') await never()
      return { stream: ReadableStream.from<LanguageModelV4StreamPart>(partsOf(reply, abortSignal)) }
    },
  }
}

async function* partsOf(reply: Reply, signal: AbortSignal | undefined): AsyncGenerator<LanguageModelV4StreamPart> {
  const delta = { type: 'text-delta', id: '0', delta: word } as const
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'text-start', id: '0' }
  while (goesOn(reply, signal)) {
    yield delta
    await tick()
  }
  const { deltas, calls } = reply
  for (let index = 0; index < deltas; index += 1) {
    yield delta
    if (endsBurst(index)) await tick()
  }
  yield { type: 'text-end', id: '0' }
  for (const { callId, name, input } of calls)
    yield { type: 'tool-call', toolCallId: callId, toolName: name, input: JSON.stringify(input) }
  const unified = calls.length === 0 ? 'stop' : 'tool-calls'
  yield { type: 'finish', usage, finishReason: { unified, raw: unified } }
}

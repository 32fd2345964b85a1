import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel, type BaseChatModelCallOptions } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { tool, type StructuredToolInterface } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'
import { pastText, type Contender, type Definition, type Session, type SessionOptions } from '../contender.ts'
import { answer, endsBurst, goesOn, never, tick, word, type AgentSpec, type ToolSpec } from '../script.ts'

// Handlers are waited for, as its guide has it where a process may end early: otherwise, with many runs at once, the last deltas of a
// stream are lost. Read when a handler is made.
process.env['LANGCHAIN_CALLBACKS_BACKGROUND'] = 'false'

/**
 * LangGraph.js: the graph of its quickstart (a model, a `ToolNode`, and an edge back), streamed in its modes `messages` and `updates`.
 * No checkpointer, which would only cost: the conversation is what the updates say.
 */
export const langGraph: Contender = {
  open: async () => ({ define, release: async () => {}, close: async () => {} }),
}

type State = typeof MessagesAnnotation.State

function define(spec: AgentSpec): Definition {
  const graph = graphOf(spec)

  function create({ onDelta, history = 0 }: SessionOptions = {}): Session {
    const messages = Array.from({ length: history }, (_, index) => pastMessage(index))
    let stop = new AbortController()
    return {
      async prompt(text) {
        stop = new AbortController()
        messages.push(new HumanMessage(text))
        let turns = 0
        try {
          const parts = await graph.stream(
            { messages: [...messages] },
            { streamMode: ['messages', 'updates'], subgraphs: true, signal: stop.signal, recursionLimit: 1_000_000 },
          )
          for await (const [namespace, mode, part] of parts) {
            if (mode === 'messages') {
              const [message] = part
              if (message instanceof AIMessageChunk && message.content !== '') onDelta?.()
            } else if (namespace.length === 0) {
              for (const [node, update] of Object.entries(part as Record<string, State>)) {
                if (node === 'model') turns += 1
                messages.push(...update.messages)
              }
            }
          }
        } catch (thrown) {
          if (stop.signal.aborted) return { how: 'aborted', turns }
          throw thrown
        }
        return { how: 'done', turns }
      },
      abort: () => stop.abort(),
      messages: () => messages.length,
    }
  }

  return { create }
}

function graphOf(spec: AgentSpec) {
  const tools = [...spec.tools.map(toolOf), ...(spec.agents ?? []).map(agentTool)]
  const model = new MockChatModel(spec).bindTools(tools)
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }: State, config) => ({ messages: [await model.invoke(messages, config)] }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }: State) => {
      const last = messages.at(-1)
      return last instanceof AIMessage && (last.tool_calls?.length ?? 0) > 0 ? 'tools' : END
    })
    .addEdge('tools', 'model')
    .compile()
}

const toolOf = ({ name, run }: ToolSpec): StructuredToolInterface =>
  tool(async (input: { n: number }) => run(input), {
    name,
    description: 'Takes a number.',
    schema: z.object({ n: z.number() }),
  })

/** A graph as a tool; what its model streams reaches the stream of its caller. */
function agentTool(spec: AgentSpec): StructuredToolInterface {
  const graph = graphOf(spec)
  return tool(
    async ({ task }: { task: string }, config) => {
      await graph.invoke({ messages: [new HumanMessage(task)] }, config)
      return 'done'
    },
    { name: spec.name, description: 'Takes a task.', schema: z.object({ task: z.string() }) },
  )
}

const pastMessage = (index: number): BaseMessage =>
  index % 2 === 0 ? new HumanMessage(pastText(index)) : new AIMessage(pastText(index))

class MockChatModel extends BaseChatModel {
  readonly #spec: AgentSpec

  constructor(spec: AgentSpec) {
    super({})
    this.#spec = spec
  }

  _llmType(): string {
    return 'mock'
  }

  override bindTools(_tools: unknown): this {
    return this
  }

  _generate(): Promise<ChatResult> {
    return Promise.reject(new Error('It is only streamed.'))
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal }: BaseChatModelCallOptions,
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const last = messages.at(-1)
    const reply = answer(this.#spec, last instanceof ToolMessage ? last.tool_call_id : undefined)
    if (reply.hang === 'model') await never()
    const say = async (message: AIMessageChunk): Promise<ChatGenerationChunk> => {
      const chunk = new ChatGenerationChunk({ message, text: message.text })
      await run?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk })
      return chunk
    }
    while (goesOn(reply, signal)) {
      yield await say(new AIMessageChunk(word))
      await tick()
    }
    const { deltas, calls } = reply
    for (let index = 0; index < deltas; index += 1) {
      yield await say(new AIMessageChunk(word))
      if (endsBurst(index)) await tick()
    }
    const tool_call_chunks = calls.map(({ callId, name, input }, index) => ({
      type: 'tool_call_chunk' as const,
      id: callId,
      name,
      args: JSON.stringify(input),
      index,
    }))
    yield await say(
      new AIMessageChunk({
        content: '',
        tool_call_chunks,
      }),
    )
  }
}

import { systemClock } from '../../../src/protocol/ports/clock.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Run } from '../../../src/protocol/runs/run.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { Sink } from '../../bridge/src/streams/durableSink.ts'
import { ChatThread } from './chatThread.ts'
import { ChatView } from './chatView.ts'
import { endingOf, writeEnding } from './endings.ts'
import { UiCursor } from './uiCursor.ts'
import { UiFold } from './uiFold.ts'
import type { UiMessageChunk } from './uiTypes.ts'

/**
 * Streams an agent's activity for `createUIMessageStreamResponse` of the AI SDK, for servers that `aiSdkChat` does not fit. For an agent,
 * the stream carries the current message, or else the newest, from its beginning; it ends with the run, or once people have to decide
 * something. For a run, it carries the message of that run to its end, whatever people are asked: read it before anything else of the run.
 * Cancelling the stream does not stop the agent.
 *
 * @example
 * ```ts
 * import { uiMessageStream } from 'escapement/ai-sdk'
 *
 * const agent = await runtime.spawn(coder)
 * for await (const chunk of uiMessageStream(agent.prompt('Fix the failing test'))) console.log(chunk.type)
 * ```
 */
export function uiMessageStream(source: Run | Agent<unknown, never>): ReadableStream<UiMessageChunk> {
  return 'readLog' in source ? ofAgent(source as unknown as Agent) : ofRun(source)
}

function ofRun(run: Run): ReadableStream<UiMessageChunk> {
  const events = run[Symbol.asyncIterator]()
  const chunks = chunksOf({ [Symbol.asyncIterator]: () => events })
  return new ReadableStream<UiMessageChunk>(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        // First, so that nobody waits for what comes next: that may be a person's word, in days.
        await events.return?.()
        await chunks.return()
      },
    },
    { highWaterMark: 0 },
  )
}

async function* chunksOf(run: AsyncIterable<AgentEvent>): AsyncGenerator<UiMessageChunk, void, undefined> {
  let written: UiMessageChunk[] = []
  const writer = { isFull: false, write: (chunk: UiMessageChunk) => void written.push(chunk) }
  const cursor = new UiCursor(writer)
  let fold: UiFold | undefined
  for await (const event of run) {
    fold ??= new UiFold(event.agentId)
    const isNew = fold.exchange === undefined
    fold.take(event)
    const { exchange } = fold
    if (exchange === undefined) continue
    if (isNew) writer.write({ type: 'start', messageId: exchange.messageId })
    cursor.pull(exchange)
    if (exchange.end !== undefined) {
      cursor.end()
      writeEnding(endingOf(exchange), exchange, writer)
    }
    yield* written
    written = []
  }
}

function ofAgent(agent: Agent): ReadableStream<UiMessageChunk> {
  const thread = new ChatThread(agent, (agentId, from) => descendant(agent, agentId)?.readLog(from) ?? nothing())
  let view: ChatView | undefined
  let onDrain: (() => void) | undefined
  let isCancelled = false
  return new ReadableStream<UiMessageChunk>({
    async start(controller) {
      await thread.follow()
      if (isCancelled) return thread.stop()
      const requestId = thread.exchange?.requestId
      const sink: Sink<UiMessageChunk> = {
        get isFull() {
          return (controller.desiredSize ?? 0) <= 0
        },
        write: (chunk) => controller.enqueue(chunk),
        onDrain: (call) => (onDrain = call),
        end() {
          controller.close()
          // Nobody else has this thread, and what waits for people may do so for days.
          thread.stop()
        },
      }
      if (requestId === undefined) controller.close()
      else (view = new ChatView({ thread, sink, clock: systemClock, requestId })).start()
      thread.release()
    },
    pull() {
      const drained = onDrain
      onDrain = undefined
      drained?.()
    },
    cancel() {
      isCancelled = true
      view?.close()
      thread.stop()
    },
  })
}

/** Yields no records: the log of an agent that has ended is out of reach here. */
async function* nothing(): AsyncGenerator<LogRecord, void, undefined> {}

/** Finds a live agent by id, at or below another one. */
function descendant(agent: Agent, id: string): Agent | undefined {
  if (agent.id === id) return agent
  for (const child of agent.children()) {
    const found = descendant(child, id)
    if (found !== undefined) return found
  }
  return undefined
}

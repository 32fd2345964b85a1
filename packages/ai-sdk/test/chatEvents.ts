import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Block } from '../../../src/protocol/messages.ts'
import type { Exchange } from '../src/exchange.ts'
import { UiFold } from '../src/uiFold.ts'

/** An event of agent `a`, or of one that `more` names. */
export const event = (type: string, more: object = {}): AgentEvent =>
  ({ type, agentId: 'a', path: [], seq: 1, time: 1, runId: 'r', turnIndex: 0, ...more }) as unknown as AgentEvent
export const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }
export const text = (words: string): Block => ({ type: 'text', text: words })
export const toolCall = (callId: string): Block => ({ type: 'toolCall', callId, name: 'look', input: {} })
export const user = (nodeId: number, words: string, provenance?: object): AgentEvent =>
  event('message.added', {
    nodeId,
    message: { role: 'user', content: [text(words)], ...(provenance === undefined ? {} : { provenance }) },
  })
export const reply = (...content: readonly Block[]): AgentEvent =>
  event('reply.end', { nodeId: 9, message: { role: 'assistant', content } })
export const begun = event('run.start', { cause: 'prompt', requestId: 'q', messages: 1 })
export const ended = (stopReason: string, costUsd: number): AgentEvent =>
  event('run.end', { stopReason, usage, costUsd })
export const toolEnd = (callId: string, words: string, more: object = {}): AgentEvent =>
  event('tool.end', {
    callId,
    message: { role: 'toolResult', callId, toolName: 'look', content: [text(words)], isError: false },
    ...more,
  })

export function folded(...events: readonly AgentEvent[]) {
  const before: Exchange[] = []
  const fold = new UiFold('a', before)
  for (const one of events) fold.take(one)
  return {
    fold,
    before,
    exchange: fold.exchange!,
    take: (...more: readonly AgentEvent[]) => more.forEach((one) => fold.take(one)),
  }
}
export const partsOf = (exchange: Exchange, growing = true): unknown[] => exchange.message(growing).parts
export const delta = (type: string, words: string, offset: number): AgentEvent => event(type, { text: words, offset })
export const step = { type: 'step-start' }

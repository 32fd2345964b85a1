import { estimateTokens } from '../../../../../../src/conversation/limits/tokenCounter.ts'
import type { ModelRequest, RequestMessage } from '../../../../../../src/protocol/ports/model.ts'
import { jsonOf } from '../words/shortText.ts'
import type { Usage } from '../../../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { RequestView } from '../agent/agentView.ts'

/** Estimates the tokens of one message of a request. Pure. */
export const messageTokens = ({ content }: RequestMessage): number =>
  estimateTokens.message({ role: 'assistant', content, stopReason: 'stop', usage: none, model: '' })

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** Estimates the tokens of a whole request. Pure; costs its length. */
export function requestTokens({ system, tools, messages }: ModelRequest): number {
  const frame = estimateTokens.text(system) + (tools.length === 0 ? 0 : estimateTokens.text(jsonOf(tools)))
  return messages.reduce((sum, message) => sum + messageTokens(message), frame)
}

/**
 * Returns the usage that the provider reported for the reply to a request; `undefined` while there is none. Pure; looks no further than the
 * next reply.
 */
export function requestUsage(records: readonly LogRecord[], { seq, turnIndex }: RequestView): Usage | undefined {
  for (let at = seq; at < records.length; at++) {
    const record = records[at]!
    if (record.type === 'reply.end') return record.turnIndex === turnIndex ? record.message.usage : undefined
  }
  return undefined
}

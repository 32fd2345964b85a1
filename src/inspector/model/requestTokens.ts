import { estimateTokens } from '../../conversation/tokenCounter.ts'
import type { ModelRequest, RequestMessage } from '../../protocol/model.ts'
import { jsonOf } from './shortText.ts'

/** Estimated tokens of one message of a request. Pure. */
export const messageTokens = ({ content }: RequestMessage): number =>
  estimateTokens.message({ role: 'assistant', content, stopReason: 'stop', usage: none, model: '' })

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** Estimated tokens of a whole request. Pure; costs its length. */
export function requestTokens({ system, tools, messages }: ModelRequest): number {
  const frame = estimateTokens.text(system) + (tools.length === 0 ? 0 : estimateTokens.text(jsonOf(tools)))
  return messages.reduce((sum, message) => sum + messageTokens(message), frame)
}

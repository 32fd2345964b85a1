import type { RequestMessage } from '../../../../src/index.ts'
import { tokensOf } from '../measure/tokens.ts'
import type { SentRequest } from '../replay.ts'

export interface MaskOptions {
  /** Newest results that stay. */
  readonly keep: number
  /** Masks only once a request has more tokens than this; 0: at every turn. */
  readonly above: number
}

const masked = [{ type: 'text', text: '[Old tool result hidden]' }] as const
const sizeOf = ({ content }: RequestMessage): number => content.reduce((sum, block) => sum + tokensOf(block), 0)

/** Replaces old results of tools by a line, for good: calls, words and what people said stay. */
export function mask(requests: readonly SentRequest[], { keep, above }: MaskOptions): SentRequest[] {
  const hidden = new Set<string>()
  return requests.map((sent): SentRequest => {
    const { messages } = sent.request
    const shown = messages.map((message) => maskedOf(message, hidden))
    const frame = tokensOf({ type: 'text', text: sent.request.system + JSON.stringify(sent.request.tools) })
    const causes = [...sent.causes]
    if (shown.reduce((sum, message) => sum + sizeOf(message), frame) > above) {
      const results = messages.flatMap((message) => (message.role === 'toolResult' ? message.callId : []))
      const old = results.slice(0, Math.max(0, results.length - keep)).filter((callId) => !hidden.has(callId))
      for (const callId of old) hidden.add(callId)
      if (old.length > 0) causes.push('masking')
    }
    return {
      ...sent,
      causes,
      request: { ...sent.request, messages: messages.map((message) => maskedOf(message, hidden)) },
    }
  })
}

const maskedOf = (message: RequestMessage, hidden: ReadonlySet<string>): RequestMessage =>
  message.role === 'toolResult' && hidden.has(message.callId) ? { ...message, content: masked } : message

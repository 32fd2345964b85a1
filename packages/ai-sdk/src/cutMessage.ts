import { cutMiddle } from '../../../src/protocol/text/cutMiddle.ts'
import type { UiMessage, UiMessagePart } from './uiTypes.ts'

/** Maximum length of a text in a sub-agent's preview, and of the whole preview as JSON, in UTF-16 units. */
const maxText = 2_000
const maxMessage = 16_000

/** Returns the newest parts of a message, with long texts cut, because the message is sent whole at each change. */
export function cutMessage({ metadata: _, ...message }: UiMessage): UiMessage {
  const parts: UiMessagePart[] = []
  let size = 0
  for (const part of message.parts.toReversed()) {
    const cut = cutTexts(part) as UiMessagePart
    size += JSON.stringify(cut).length
    if (size > maxMessage) break
    parts.unshift(cut)
  }
  return { ...message, parts }
}

function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxText ? cutMiddle(value, maxText) : value
  if (Array.isArray(value)) return value.map(cutTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, cutTexts(held)]))
}

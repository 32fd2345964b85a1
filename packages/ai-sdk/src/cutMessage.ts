import { cutMiddle } from '../../../src/protocol/text/cutMiddle.ts'
import type { UiMessage, UiMessagePart } from './uiTypes.ts'

/** Longest text in the picture of a sub-agent, and longest picture as JSON, in UTF-16 units. */
const maxText = 2_000
const maxMessage = 16_000

/** The newest parts of a message, with long texts cut: it is sent whole every time it changes. */
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

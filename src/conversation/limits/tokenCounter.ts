import { isTextual } from '../../protocol/text/fileText.ts'
import type { AssistantMessage, Block, FileBlock, Message } from '../../protocol/messages.ts'

/** The token-counting port. Contract: pure, cheap (called once per message), never throws; the unit is tokens. */
export interface TokenCounter {
  message(message: Message): number
  text(text: string): number
}

const perMessage = 4
/** Tokens of a large image: providers bill an image by its size. */
const perImage = 1_600
/** Bytes per token of a file that is not text. A page of a PDF counts much like an image, and a second of sound counts little. */
const bytesPerToken = { audio: 500, other: 50 }

/** Estimates 3.5 characters per token; corrected later by the providers' reports (see `Conversation.tokens`). */
const estimateText = (text: string): number => Math.ceil(text.length / 3.5)

function estimateBlock(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return estimateText(block.text)
    case 'image':
      return perImage
    case 'file':
      return estimateFile(block)
    case 'provider':
      return block.kind === 'source' ? 0 : jsonTokens(block.data)
    case 'toolCall':
      return estimateText(block.name) + jsonTokens(block.input) + 8
  }
}

/** Estimates a file from its size alone: nothing is decoded. */
function estimateFile({ data, mimeType }: FileBlock): number {
  const bytes = Math.ceil((data.length * 3) / 4)
  if (isTextual(mimeType)) return Math.ceil(bytes / 3.5)
  return Math.max(
    perImage,
    Math.ceil(bytes / (mimeType.startsWith('audio/') ? bytesPerToken.audio : bytesPerToken.other)),
  )
}

const jsonTokens = (value: unknown): number =>
  estimateText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The default counter: an estimate from lengths alone. */
export const estimateTokens: TokenCounter = {
  text: estimateText,
  message(message) {
    let tokens = perMessage
    for (const block of message.content) tokens += estimateBlock(block)
    return tokens
  },
}

/** Ratio of reported to estimated tokens of the request that a reply answers; `undefined` if none were reported. */
export function correctionOf({ usage }: AssistantMessage, estimated: number): number | undefined {
  const reported = usage.input + usage.cacheRead + usage.cacheWrite
  if (usage.estimated === true || reported <= 0 || estimated <= 0) return undefined
  // Bounded, so that a mock reporting one token does not switch compaction off.
  return Math.min(4, Math.max(0.25, reported / estimated))
}

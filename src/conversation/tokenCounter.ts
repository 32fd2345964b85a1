import type { Block, Message } from '../protocol/messages.ts'

/** The token-counting port. Contract: pure, cheap (called once per message), never throws; the unit is tokens. */
export interface TokenCounter {
  message(message: Message): number
  text(text: string): number
}

const perMessage = 4
/** Providers bill an image by its size; this is what a large one costs. */
const perImage = 1_600

/** Three and a half characters a token: measured replies correct it afterwards (see `Conversation.tokens`). */
const estimateText = (text: string): number => Math.ceil(text.length / 3.5)

function estimateBlock(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return estimateText(block.text)
    case 'image':
      return perImage
    case 'toolCall':
      return estimateText(block.name) + jsonTokens(block.input) + 8
  }
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

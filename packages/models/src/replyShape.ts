import { estimateTokens } from '../../../src/conversation/limits/tokenCounter.ts'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { describeIssues } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Block, Usage } from '../../../src/protocol/messages.ts'
import type { ModelPart, ModelReply, ModelRequest } from '../../../src/protocol/ports/model.ts'

/** Shorthand for a reply: a string is its text. Ids, stop reason and usage are filled in. */
export type ReplyShape =
  | string
  | {
      readonly text?: string
      readonly thinking?: string
      readonly toolCalls?: readonly { readonly name: string; readonly input: unknown; readonly callId?: string }[]
      readonly stopReason?: ModelReply['stopReason']
      /** The provider's own reason for the end of the reply. */
      readonly endReason?: string
      readonly usage?: Usage
    }

const shapeSchema = lazily(() =>
  onlyFields({
    text: z.string(),
    thinking: z.string(),
    toolCalls: z.array(onlyFields({ name: z.string(), input: z.unknown().optional(), callId: z.string().optional() })),
    stopReason: z.enum(['stop', 'length', 'toolUse', 'refusal', 'other']),
    endReason: z.string(),
    usage: z.unknown(),
  }).partial(),
)

/** Returns the problem with a shorthand reply; `undefined` if it is valid. */
export function wrongInShape(shape: unknown): string | undefined {
  if (typeof shape === 'string') return undefined
  const { error } = shapeSchema().safeParse(shape)
  if (error === undefined) return undefined
  const wrong = typeof shape === 'object' && shape !== null ? `, and ${describeIssues(error)}` : ''
  const seen = (JSON.stringify(shape) ?? String(shape)).slice(0, 200)
  return `the reply is ${seen}${wrong}: give a text, or { text, thinking, toolCalls: [{ name, input }], stopReason, endReason, usage }, each of them optional`
}

/** Expands a shorthand reply. `turnIndex` makes its call ids unique and reproducible. */
export function toReply(shape: ReplyShape, request: ModelRequest, turnIndex: number): ModelReply {
  const {
    text,
    thinking,
    toolCalls = [],
    stopReason,
    endReason,
    usage,
  } = typeof shape === 'string' ? { text: shape } : shape
  const content: Block[] = []
  if (thinking !== undefined) content.push({ type: 'thinking', text: thinking, signature: `embedded-${turnIndex}` })
  if (text !== undefined && text !== '') content.push({ type: 'text', text })
  toolCalls.forEach(({ name, input, callId }, index) => {
    content.push({ type: 'toolCall', callId: callId ?? `call_${turnIndex}_${index}`, name, input })
  })
  return {
    content,
    stopReason: stopReason ?? (toolCalls.length > 0 ? 'toolUse' : 'stop'),
    ...(endReason === undefined ? {} : { endReason }),
    usage: usage ?? estimateUsage(request, content),
  }
}

const toolTokens = new WeakMap<object, number>()

/** Returns the tokens by the default counter. None count as cached. */
function estimateUsage(request: ModelRequest, content: readonly Block[]): Usage {
  const { tools } = request
  const known = toolTokens.get(tools) ?? (tools.length === 0 ? 0 : estimateTokens.text(JSON.stringify(tools)))
  toolTokens.set(tools, known)
  let input = estimateTokens.text(request.system) + known
  for (const { content: blocks } of request.messages) input += tokensOf(blocks)
  return { input, output: tokensOf(content), cacheRead: 0, cacheWrite: 0 }
}

const tokensOf = (content: readonly Block[]): number =>
  estimateTokens.message({ role: 'user', content: content as never, source: 'prompt' })

/** Yields the parts as which a reply is streamed: text and thinking word by word, arguments as JSON, then `done`. */
export function* partsOf(reply: ModelReply): Generator<ModelPart> {
  for (const block of reply.content) {
    if (block.type === 'toolCall') {
      yield { type: 'toolCall.delta', callId: block.callId, name: block.name, text: JSON.stringify(block.input) ?? '' }
    } else if (block.type === 'text' || block.type === 'thinking') {
      const type = block.type === 'text' ? 'text.delta' : 'thinking.delta'
      for (const text of block.text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []) yield { type, text }
    }
  }
  yield { type: 'done', reply }
}

import { policyModel, type Model, type ModelRequest, type ReplyShape } from '../../src/index.ts'
import { seenRequest, type SeenRequest } from './seenRequest.ts'

/** Three and a half characters per token, as the runtime estimates it. */
const charsOfToken = 3.5

/**
 * A model with a window: like that of a provider it refuses a longer request, as an overflow. It decides from what the request shows
 * and nothing else, and so cannot tell one arm from another.
 */
export function windowedModel(
  id: string,
  windowTokens: number,
  decide: (seen: SeenRequest, request: ModelRequest) => ReplyShape,
): Model {
  const inner = policyModel((request) => decide(seenRequest(request), request), { id })
  return {
    id,
    async *stream(request, options) {
      const tokens = sizeOf(request)
      if (tokens > windowTokens) {
        const message = `the request has about ${tokens} tokens, and the window ${windowTokens}`
        yield { type: 'error', error: { kind: 'overflow', message } }
      } else yield* inner.stream(request, options)
    },
  }
}

const toolChars = new WeakMap<object, number>()

function sizeOf({ system, messages, tools }: ModelRequest): number {
  let chars = system.length + (toolChars.get(tools) ?? toolChars.set(tools, JSON.stringify(tools).length).get(tools)!)
  for (const { content } of messages)
    for (const block of content)
      if (block.type === 'text' || block.type === 'thinking') chars += block.text.length
      else if (block.type === 'toolCall') chars += JSON.stringify(block.input).length + block.name.length
  return Math.ceil(chars / charsOfToken)
}

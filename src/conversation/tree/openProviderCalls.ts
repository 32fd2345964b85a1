import type { Block, ProviderBlock } from '../../protocol/messages.ts'
import type { RequestMessage } from '../../protocol/ports/model.ts'
import { withoutLastThinking } from '../request/renderMessage.ts'

/** Replacement for a reply if nothing else of it can be sent. */
const cutOff: Block = { type: 'text', text: '(this reply was cut off)' }

/**
 * Returns the provider's own calls that have no result, in a reply or in `next`, which continues it. Providers refuse a request with such a call. A
 * call that waits for one of ours, such as code that calls our tools, gets its result later.
 */
export function openProviderCalls(content: readonly Block[], next: readonly Block[] = []): ReadonlySet<Block> {
  const calls = content.filter((block) => block.type === 'provider' && block.kind === 'call')
  if (calls.length === 0) return noCalls
  const answered = new Set([...content, ...next].flatMap((block) => (isResult(block) ? [callOf(block)] : [])))
  const callers = content.flatMap((block) => (block.type === 'thinking' ? [block.signature ?? ''] : []))
  return new Set(
    calls.filter((block) => {
      const id = callOf(block as ProviderBlock)
      return id !== undefined && !answered.has(id) && !callers.some((data) => data.includes(`"${id}"`))
    }),
  )
}

const noCalls: ReadonlySet<Block> = new Set()

const isResult = (block: Block): block is ProviderBlock => block.type === 'provider' && block.kind === 'result'

/** Returns the id of a call in the form of the AI SDK, the only one that we read. */
function callOf({ data }: ProviderBlock): string | undefined {
  const id: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'toolCallId') : undefined
  return typeof id === 'string' ? id : undefined
}

/** Returns a reply without the provider's calls that remain without a result because `next` follows; the same reply if it has none. */
export function closedReply(reply: RequestMessage, next: RequestMessage): RequestMessage {
  if (reply.role !== 'assistant') return reply
  const open = openProviderCalls(reply.content, next.role === 'assistant' ? next.content : [])
  if (open.size === 0) return reply
  const content = withoutLastThinking(reply.content.filter((block) => !open.has(block)))
  return { role: 'assistant', content: content.length === 0 ? [cutOff] : content }
}

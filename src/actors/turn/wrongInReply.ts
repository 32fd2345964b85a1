import type { Block } from '../../protocol/messages.ts'
import type { ModelReply } from '../../protocol/ports/model.ts'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import { wrongInMedia } from '../../protocol/text/saidContent.ts'

const stopReasons: ReadonlySet<unknown> = new Set(['stop', 'length', 'toolUse', 'refusal', 'other'])

/** Returns the fault that a hand-written adapter made in a reply; `undefined` if there is none. */
export function wrongInReply(reply: Partial<ModelReply> | undefined): string | undefined {
  if (!Array.isArray(reply?.content)) return 'its reply has no content'
  const index = reply.content.findIndex((block: Partial<Block> | null) => !isBlock(block))
  if (index >= 0)
    return `block ${index} of its reply is no block: ${cutEnd(JSON.stringify(reply.content[index]) ?? 'undefined', 200)}`
  if (!stopReasons.has(reply.stopReason)) return `its stop reason is ${JSON.stringify(reply.stopReason)}`
  if (reply.endReason !== undefined && typeof reply.endReason !== 'string')
    return `the reason of its end is ${JSON.stringify(reply.endReason)}`
  const counts = Object.entries(reply.usage ?? {})
  const [name, wrong] = counts.find(([, count]) => typeof count === 'number' && count < 0) ?? []
  return name === undefined ? undefined : `its usage.${name} is ${wrong}`
}

const providerKinds: ReadonlySet<unknown> = new Set(['call', 'result', 'source', 'file', 'other'])

function isBlock(block: Partial<Block> | null | undefined): boolean {
  switch (block?.type) {
    case 'text':
      return typeof block.text === 'string'
    case 'thinking':
      return typeof block.text === 'string' && ['string', 'undefined'].includes(typeof block.signature)
    case 'image':
    case 'file':
      return wrongInMedia(block) === undefined
    case 'provider':
      return [block.provider, block.name].every((text) => typeof text === 'string') && providerKinds.has(block.kind)
    case 'toolCall':
      return typeof block.callId === 'string' && typeof block.name === 'string'
    default:
      return false
  }
}

import { cutMiddle } from '../../protocol/text/cutMiddle.ts'
import { transcriptMarkers } from '../../conversation/request/markers.ts'
import { neutralise, soundName } from '../../conversation/request/renderMessage.ts'
import type { ConversationNode } from '../../conversation/tree/node.ts'
import { mediaText, providedText, type Block } from '../../protocol/messages.ts'

/** Renders a span as plain text for a summarising model. No content can end the transcript or an entry. */
export function transcribe(
  span: readonly ConversationNode[],
  options: { readonly earlier?: string | undefined; readonly maxChars?: number } = {},
): string {
  const { earlier, maxChars = Infinity } = options
  const entries = span.map(({ message }) => {
    const said = message.content.map(describe).filter(Boolean).join('\n')
    if (message.role !== 'toolResult') return entry(message.role === 'user' ? 'user' : 'agent', said)
    return entry(`${message.isError ? 'error' : 'result'} of ${soundName(message.toolName)}`, cutMiddle(said, 4_000))
  })
  if (earlier !== undefined) entries.unshift(entry('earlier summary', earlier))
  return `<transcript>\n${cutMiddle(entries.join('\n'), maxChars)}\n</transcript>`
}

const entry = (from: string, said: string): string =>
  `<transcript-entry from="${from}">\n${neutralise(said, transcriptMarkers)}\n</transcript-entry>`

function describe(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'file':
      return mediaText(block)
    case 'thinking':
      return ''
    case 'provider':
      return `(${providedText(block)} ${cutMiddle(JSON.stringify(block.data) ?? '', 2_000)})`
    case 'toolCall':
      return `calls ${block.name} ${cutMiddle(JSON.stringify(block.input) ?? '', 2_000)}`
  }
}

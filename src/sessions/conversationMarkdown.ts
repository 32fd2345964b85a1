import type { Block, Message } from '../protocol/messages.ts'
import { isMedia, mediaText, providedText } from '../protocol/messageText.ts'

/**
 * A conversation as Markdown: what people and the model said as they wrote it, calls with what they were given, and what they came to.
 * What the model thought is left out. `messages`: of the trunk. Pure.
 */
export function conversationMarkdown(title: string, messages: readonly Message[]): string {
  const parts = [`# ${title.replace(/\s+/g, ' ').trim()}`]
  for (const message of messages) {
    if (message.role === 'toolResult') {
      parts.push(`**${message.toolName}** ${message.isError ? 'failed:' : 'gave:'}`, given(message.content))
    } else parts.push(message.role === 'user' ? '## User' : '## Assistant', ...message.content.map(said))
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function said(block: Block): string {
  if (isMedia(block)) return mediaText(block)
  switch (block.type) {
    case 'text':
      return block.text.trim()
    case 'toolCall':
      return `Calls **${block.name}**:\n\n${fenced(JSON.stringify(block.input, undefined, 2) ?? '', 'json')}`
    case 'provider':
      return providedText(block)
    case 'thinking':
      return ''
  }
}

/** What a tool gives is data, not Markdown. */
const given = (content: readonly Block[]): string =>
  fenced(
    content.map((block) => (block.type === 'text' ? block.text : isMedia(block) ? mediaText(block) : '')).join('\n'),
    '',
  )

/** In a fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

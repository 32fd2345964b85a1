import type { Block, Message } from '../../../src/protocol/messages.ts'
import { isMedia, mediaText, providedText } from '../../../src/protocol/text/messageText.ts'
import { plainMarkdown } from './plainMarkdown.ts'

/**
 * Returns a conversation as Markdown: messages of people and of the model, and tool calls with arguments and results. HTML in them is shown
 * as text, and images become links, so that displaying the Markdown loads nothing. Thinking is left out. `messages`: of the trunk. Pure.
 */
export function conversationMarkdown(title: string, messages: readonly Message[]): string {
  const parts = [`# ${inLine(title)}`]
  for (const message of messages) {
    if (message.role === 'toolResult') {
      parts.push(`**${inLine(message.toolName)}** ${message.isError ? 'failed:' : 'gave:'}`, given(message.content))
    } else parts.push(message.role === 'user' ? '## User' : '## Assistant', ...message.content.map(said))
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** Returns a name as one line of plain Markdown. */
const inLine = (text: string): string => plainMarkdown(text.replace(/\s+/g, ' ').trim())

function said(block: Block): string {
  if (isMedia(block)) return plainMarkdown(mediaText(block))
  switch (block.type) {
    case 'text':
      return plainMarkdown(block.text.trim())
    case 'toolCall':
      return `Calls **${inLine(block.name)}**:\n\n${fenced(JSON.stringify(block.input, undefined, 2) ?? '', 'json')}`
    case 'provider':
      return plainMarkdown(providedText(block))
    case 'thinking':
      return ''
  }
}

/** Fences a tool's output, which is data, not Markdown. */
const given = (content: readonly Block[]): string =>
  fenced(
    content.map((block) => (block.type === 'text' ? block.text : isMedia(block) ? mediaText(block) : '')).join('\n'),
    '',
  )

/** Puts a text into a fence longer than any fence in it. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

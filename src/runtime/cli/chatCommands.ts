/** What a line typed in a chat asks for. */
export type ChatLine =
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'print'; readonly text: string }
  | { readonly type: 'quit' }
  | { readonly type: 'nothing' }

const help = `  /help   this text
  /quit   leave (also Ctrl-D)
  Ctrl-C  stop the work; twice, leave
  A line typed while the agent works is given to it between two tool calls.
`

const chatCommands: Readonly<Record<string, ChatLine>> = {
  '/help': { type: 'print', text: help },
  '/quit': { type: 'quit' },
  '/exit': { type: 'quit' },
}

/** Reads a line of a chat: a command with a slash, or something to say. A path like `/etc/hosts` is something to say. */
export function readChatLine(line: string): ChatLine {
  const text = line.trim()
  if (text === '') return { type: 'nothing' }
  if (Object.hasOwn(chatCommands, text)) return chatCommands[text]!
  if (/^\/[a-z]+$/.test(text))
    return { type: 'print', text: `  There is no ${text}. There are: ${Object.keys(chatCommands).join(', ')}.\n` }
  return { type: 'say', text: line }
}

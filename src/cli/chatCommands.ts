/** What a line of a chat asks of the agent, beside saying something. */
export type AgentLine =
  | { readonly type: 'steer' | 'followUp'; readonly text: string }
  | { readonly type: 'abort' }
  | { readonly type: 'resume' }
  | { readonly type: 'approve' }
  | { readonly type: 'deny'; readonly reason?: string }

/** What a line typed in a chat asks for. */
export type ChatLine =
  | AgentLine
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'print'; readonly text: string }
  | { readonly type: 'help' }
  | { readonly type: 'quit' }
  | { readonly type: 'nothing' }

interface ChatCommand {
  /** What follows it; nothing may when it is missing. */
  readonly form?: '<text>' | '[why]'
  readonly help: string
  read(text: string): ChatLine
}

const chatCommands: Readonly<Record<string, ChatCommand>> = {
  '/steer': {
    form: '<text>',
    help: 'say it before the next step of the agent at work',
    read: (text) => ({ type: 'steer', text }),
  },
  '/followup': {
    form: '<text>',
    help: 'say it once the agent would be done',
    read: (text) => ({ type: 'followUp', text }),
  },
  '/abort': { help: 'stop the work', read: () => ({ type: 'abort' }) },
  '/resume': { help: 'go on after a pause', read: () => ({ type: 'resume' }) },
  '/approve': { help: 'allow the call that waits', read: () => ({ type: 'approve' }) },
  '/deny': {
    form: '[why]',
    help: 'deny it; the agent reads why',
    read: (text) => (text === '' ? { type: 'deny' } : { type: 'deny', reason: text }),
  },
  '/help': { help: 'this text', read: () => ({ type: 'help' }) },
  '/quit': { help: 'leave (also Ctrl-D)', read: () => ({ type: 'quit' }) },
}
/** Other words for them. */
const aliases: Readonly<Record<string, string>> = { '/exit': '/quit' }

/** What `/help` prints; `ctrlC`: what Ctrl-C does here. */
export const chatHelp = (ctrlC: string): string =>
  [
    ...Object.entries(chatCommands).map(([name, { form = '', help }]) => [`${name} ${form}`, help] as const),
    ['Ctrl-C', ctrlC] as const,
  ]
    .map(([form, help]) => `  ${form.padEnd(18)}${help}\n`)
    .join('') + '  A line typed while the agent works is given to it between two tool calls.\n'

/** Reads a line of a chat: a command with a slash, or something to say. A path like `/etc/hosts` is something to say. */
export function readChatLine(line: string): ChatLine {
  const said = line.trim()
  if (said === '') return { type: 'nothing' }
  const [word = ''] = said.split(/\s/, 1)
  const text = said.slice(word.length).trim()
  const name = Object.hasOwn(aliases, word) ? aliases[word]! : word
  const command = Object.hasOwn(chatCommands, name) ? chatCommands[name] : undefined
  if (command !== undefined && (text === '' || command.form !== undefined))
    return text === '' && command.form === '<text>'
      ? { type: 'print', text: `  ${name} needs something to say.\n` }
      : command.read(text)
  if (/^\/[a-z]+$/.test(said))
    return { type: 'print', text: `  There is no ${said}. There are: ${Object.keys(chatCommands).join(', ')}.\n` }
  return { type: 'say', text: line }
}

/** Whether a line is a command, also where an answer is waited for. */
export const isChatCommand = (line: string): boolean => !['say', 'nothing', 'print'].includes(readChatLine(line).type)

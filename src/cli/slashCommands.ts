import type { Run } from '../runs/run.ts'
import { decideCall, type ChatAgent } from './chatAgent.ts'

/** A line of a chat that the agent handles, other than a plain message. */
export type AgentLine =
  | { readonly type: 'steer' | 'followUp'; readonly text: string }
  | { readonly type: 'abort' }
  | { readonly type: 'resume' }
  | { readonly type: 'approve' }
  | { readonly type: 'deny'; readonly reason?: string }

/** A parsed line of a chat. */
export type ChatLine =
  | AgentLine
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'print'; readonly text: string }
  | { readonly type: 'help' }
  | { readonly type: 'quit' }
  | { readonly type: 'nothing' }

interface SlashCommand {
  /** The argument; without it the command takes none. */
  readonly form?: '<text>' | '[why]'
  readonly help: string
  read(text: string): ChatLine
}

const slashCommands: Readonly<Record<string, SlashCommand>> = {
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
/** Alternative names. */
const aliases: Readonly<Record<string, string>> = { '/exit': '/quit' }

/** What `/help` prints; `ctrlC`: what Ctrl-C does here. */
export const chatHelp = (ctrlC: string): string =>
  [
    ...Object.entries(slashCommands).map(([name, { form = '', help }]) => [`${name} ${form}`, help] as const),
    ['Ctrl-C', ctrlC] as const,
  ]
    .map(([form, help]) => `  ${form.padEnd(18)}${help}\n`)
    .join('') + '  A line typed while the agent works is given to it between two tool calls.\n'

/** Parses a line of a chat: a slash command or a message. A path like `/etc/hosts` is a message. */
export function readChatLine(line: string): ChatLine {
  const said = line.trim()
  if (said === '') return { type: 'nothing' }
  const [word = ''] = said.split(/\s/, 1)
  const text = said.slice(word.length).trim()
  const name = Object.hasOwn(aliases, word) ? aliases[word]! : word
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined
  if (command !== undefined && (text === '' || command.form !== undefined))
    return text === '' && command.form === '<text>'
      ? { type: 'print', text: `  ${name} needs something to say.\n` }
      : command.read(text)
  if (/^\/[a-z]+$/.test(said))
    return { type: 'print', text: `  There is no ${said}. There are: ${Object.keys(slashCommands).join(', ')}.\n` }
  return { type: 'say', text: line }
}

/** Whether a line is a command even while a question is open. */
export const isSlashCommand = (line: string): boolean => !['say', 'nothing', 'print'].includes(readChatLine(line).type)

/** The result of a line: a note to print, and the run it started. */
export interface LineResult {
  readonly note?: string
  readonly run?: Run
}

type LineActions = {
  readonly [T in AgentLine['type']]: (agent: ChatAgent, line: Extract<AgentLine, { type: T }>) => Promise<LineResult>
}

async function decide(agent: ChatAgent, decision: 'approve' | 'deny', reason?: string): Promise<LineResult> {
  const [call] = agent.approvals()
  if (call === undefined) return { note: 'no call waits for an approval' }
  await decideCall(agent, call, decision, reason)
  return { note: `${decision === 'approve' ? 'allowed' : 'denied'}: ${call.name}` }
}

const lineActions: LineActions = {
  async steer(agent, { text }) {
    await agent.steer(text)
    return { note: 'given to the agent before its next step' }
  },
  async followUp(agent, { text }) {
    await agent.followUp(text)
    return { note: 'given to the agent once it is done' }
  },
  async abort(agent) {
    if (agent.state === 'idle') return { note: 'nothing is under way' }
    await agent.abort()
    return {}
  },
  resume: async (agent) => ({ run: agent.resume() }),
  approve: (agent) => decide(agent, 'approve'),
  deny: (agent, { reason }) => decide(agent, 'deny', reason),
}

/** Executes a line that the agent handles. Rejects with what the agent throws. */
export const runChatLine = (agent: ChatAgent, line: AgentLine): Promise<LineResult> =>
  (lineActions[line.type] as (agent: ChatAgent, line: AgentLine) => Promise<LineResult>)(agent, line)

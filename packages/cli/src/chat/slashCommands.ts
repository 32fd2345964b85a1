import type { CompactOptions, PruneOptions, RevertCommandOptions } from '../../../../src/protocol/bridge/commands.ts'
import { permissionModes, type PermissionMode } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { Right } from '../../../wire/src/rights.ts'
import type { UseChange } from '../../../../src/protocol/bridge/turns.ts'
import type { Completion } from '../terminal/input/completion.ts'

/** A line of a chat that the agent handles, other than a plain message. */
export type AgentLine =
  | { readonly type: 'steer' | 'followUp'; readonly text: string }
  | { readonly type: 'abort' }
  | { readonly type: 'resume' }
  | { readonly type: 'approve' }
  | { readonly type: 'deny'; readonly reason?: string }
  | ({ readonly type: 'prune' } & PruneOptions)
  | ({ readonly type: 'compact' } & CompactOptions)
  | { readonly type: 'fold' }
  | { readonly type: 'graft'; readonly steps: readonly string[] }
  | ({ readonly type: 'revert'; readonly step: string } & RevertCommandOptions)
  | { readonly type: 'pin' | 'unpin'; readonly step: string }
  | { readonly type: 'brake'; readonly policy: string }
  | { readonly type: 'use'; readonly use: UseChange | null }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  | { readonly type: 'undo'; readonly why?: string }
  | { readonly type: 'retry' }
  | { readonly type: 'tree' }
  | { readonly type: 'cost' }
  | { readonly type: 'fork'; readonly at?: string }

/** A parsed line of a chat. */
export type ChatLine =
  | AgentLine
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'print'; readonly text: string }
  | { readonly type: 'help' }
  | { readonly type: 'sessions' }
  | { readonly type: 'quit' }
  | { readonly type: 'nothing' }

/** Requirement of a command: a right, or a part of the agent or of the chat. */
export type ChatPart = Right | 'fold' | 'policies' | 'models' | 'sessions'

interface SlashCommand {
  /** Requirement without which the command is not offered. */
  readonly part?: ChatPart
  /** Notation of the argument in the help. Missing if the command takes none. */
  readonly form?: string
  /** Message for a missing argument. Missing if the argument is optional. */
  readonly needs?: string
  readonly help: string
  read(text: string): ChatLine
}

/** Reads ids of steps or a number of tokens; `rest`: the words after them. */
function readSteps(text: string): { readonly what?: Pick<PruneOptions, 'steps' | 'tokens'>; readonly rest: string } {
  const words = text.split(/\s+/)
  const end = words.findIndex((word) => !/^n\d+,?$/.test(word))
  const steps = words.slice(0, end < 0 ? words.length : end).map((word) => word.replace(',', ''))
  const tokens = steps.length === 0 && /^[1-9]\d*$/.test(words[0]!) ? Number(words[0]) : undefined
  const rest = words.slice(tokens === undefined ? steps.length : 1).join(' ')
  if (tokens !== undefined) return { what: { tokens }, rest }
  return steps.length === 0 ? { rest } : { what: { steps }, rest }
}

const needs = (name: '/prune' | '/mask' | '/show'): ChatLine => ({
  type: 'print',
  text: `  ${name} needs ${slashCommands[name]!.needs}.\n`,
})

function readPrune(text: string): ChatLine {
  const { what, rest: memo } = readSteps(text)
  return what === undefined ? needs('/prune') : { type: 'prune', ...what, ...(memo === '' ? {} : { memo }) }
}

function readMask(text: string): ChatLine {
  const { what, rest } = readSteps(text)
  return what === undefined || rest !== '' ? needs('/mask') : { type: 'prune', ...what, mask: true }
}

function readShow(text: string): ChatLine {
  const { what, rest } = readSteps(text)
  if (what?.steps === undefined || rest !== '') return needs('/show')
  return { type: 'prune', steps: what.steps, show: true }
}

const modeNeeds = `a mode: ${permissionModes.join(', ')}`

function readMode(text: string): ChatLine {
  const mode = permissionModes.find((one) => one === text)
  return mode === undefined ? { type: 'print', text: `  /mode needs ${modeNeeds}.\n` } : { type: 'mode', mode }
}

function readRevert(text: string): ChatLine {
  const [step = '', ...words] = text.split(/\s+/)
  if (!/^n?\d+$/.test(step)) return { type: 'print', text: `  /revert needs ${slashCommands['/revert']!.needs}.\n` }
  const undo = words[0] === '--undo'
  const summary = words.slice(undo ? 1 : 0).join(' ')
  return {
    ...({ type: 'revert', step, category: 'failure' } as const),
    ...(summary === '' ? {} : { summary }),
    ...(undo ? { undo } : {}),
  }
}

const readFork = (text: string): ChatLine => {
  if (text === '') return { type: 'fork' }
  if (/^n?\d+$/.test(text)) return { type: 'fork', at: text.startsWith('n') ? text : `n${text}` }
  return { type: 'print', text: '  /fork needs a step, such as n12, or nothing for the newest; /tree lists them.\n' }
}

const useNeeds = 'model <name>, tools <names>, instructions <text>, or reset; without a value: as the definition says'

function readUse(text: string): ChatLine {
  const [what = ''] = text.split(/\s/, 1)
  const value = text.slice(what.length).trim()
  if (what === 'reset' && value === '') return { type: 'use', use: null }
  if (what === 'tools')
    return { type: 'use', use: { tools: value === '' ? null : value.split(/[\s,]+/).filter((name) => name !== '') } }
  if (what === 'model' || what === 'instructions') return { type: 'use', use: { [what]: value === '' ? null : value } }
  return { type: 'print', text: `  /use needs ${useNeeds}.\n` }
}

const slashCommands: Readonly<Record<string, SlashCommand>> = {
  '/steer': {
    part: 'talk',
    form: '<text>',
    needs: 'a message',
    help: 'send a message before the next step',
    read: (text) => ({ type: 'steer', text }),
  },
  '/followup': {
    part: 'talk',
    form: '<text>',
    needs: 'a message',
    help: 'send a message when the agent finishes',
    read: (text) => ({ type: 'followUp', text }),
  },
  '/abort': { part: 'talk', help: 'stop the run', read: () => ({ type: 'abort' }) },
  '/resume': { part: 'control', help: 'resume after a pause', read: () => ({ type: 'resume' }) },
  '/approve': { part: 'approve', help: 'approve the waiting call', read: () => ({ type: 'approve' }) },
  '/deny': {
    part: 'approve',
    form: '[why]',
    help: 'deny it, with a reason for the agent',
    read: (text) => (text === '' ? { type: 'deny' } : { type: 'deny', reason: text }),
  },
  '/prune': {
    part: 'control',
    form: '<steps> [memo]',
    needs: 'steps to hide, such as n4 n9, or a number of tokens',
    help: 'hide steps from the model, optionally behind a memo',
    read: readPrune,
  },
  '/mask': {
    part: 'control',
    form: '<steps>',
    needs: 'steps, such as n4 n9, or a number of tokens, and nothing else',
    help: 'hide the results of steps, but keep the calls',
    read: readMask,
  },
  '/show': {
    part: 'control',
    form: '<steps>',
    needs: 'steps that are hidden, such as n4 n9, and nothing else',
    help: 'show the model hidden steps again',
    read: readShow,
  },
  '/fold': { part: 'fold', help: 'show the model old steps as one line each', read: () => ({ type: 'fold' }) },
  '/graft': {
    part: 'control',
    form: '<steps>',
    needs: 'abandoned steps to bring back, such as n12 n13',
    help: 'copy steps of an abandoned branch to the end',
    read: (text) => ({ type: 'graft', steps: text.split(/[\s,]+/).filter((word) => word !== '') }),
  },
  '/revert': {
    part: 'control',
    form: '<step> [--undo] [why]',
    needs: 'a step to go back to, such as n12',
    help: 'go back to a step and leave a lesson',
    read: readRevert,
  },
  '/compact': {
    part: 'control',
    form: '[focus]',
    help: 'summarise the middle of the conversation',
    read: (text) => (text === '' ? { type: 'compact' } : { type: 'compact', focus: text }),
  },
  '/brake': {
    part: 'policies',
    form: '<policy>',
    needs: 'the name of a policy',
    help: 'run a policy now',
    read: (policy) => ({ type: 'brake', policy }),
  },
  '/use': {
    part: 'use',
    form: '<what> [value]',
    needs: useNeeds,
    help: 'model <name>, tools <names>, instructions <text>',
    read: readUse,
  },
  '/model': {
    part: 'models',
    form: '<name>',
    needs: 'the name of a model of the agent, or reset for that of its definition',
    help: 'change the model from the next turn on, or reset it',
    read: (name) => ({ type: 'use', use: { model: name === 'reset' ? null : name } }),
  },
  '/mode': {
    part: 'control',
    form: '<mode>',
    needs: modeNeeds,
    help: `permissions: ${permissionModes.join(', ')}`,
    read: readMode,
  },
  '/retry': { part: 'talk', help: 'retry the failed run, or repeat the last prompt', read: () => ({ type: 'retry' }) },
  '/undo': {
    part: 'control',
    form: '[why]',
    help: 'go back to the last prompt and undo everything since',
    read: (why) => (why === '' ? { type: 'undo' } : { type: 'undo', why }),
  },
  '/fork': {
    part: 'spawn',
    form: '[step]',
    help: 'start a new session from a step, or from here',
    read: readFork,
  },
  '/tree': { help: 'show the conversation with abandoned branches', read: () => ({ type: 'tree' }) },
  '/cost': { help: 'show usage so far', read: () => ({ type: 'cost' }) },
  '/pin': {
    part: 'control',
    form: '<step>',
    needs: 'a step, such as n12; /tree lists them',
    help: 'keep a step visible to the model',
    read: (step) => ({ type: 'pin', step }),
  },
  '/unpin': {
    part: 'control',
    form: '<step>',
    needs: 'a pinned step, such as n12',
    help: 'unpin a step',
    read: (step) => ({ type: 'unpin', step }),
  },
  '/sessions': {
    part: 'sessions',
    help: 'continue another session of this folder',
    read: () => ({ type: 'sessions' }),
  },
  '/help': { help: 'show this help', read: () => ({ type: 'help' }) },
  '/quit': { help: 'leave (also Ctrl-D)', read: () => ({ type: 'quit' }) },
}
/** Alternative names of commands. */
const aliases: Readonly<Record<string, string>> = { '/exit': '/quit' }

/** Returns true if a chat has a part. */
export type ChatParts = (part: ChatPart) => boolean

const commandsWith = (has: ChatParts): readonly (readonly [name: string, command: SlashCommand])[] =>
  Object.entries(slashCommands).filter(([, { part }]) => part === undefined || has(part))

/** Returns completions for the available commands. The text of a command with an argument ends with a space. */
export const chatCommands = (has: ChatParts): readonly Completion[] =>
  commandsWith(has).map(([name, command]) => ({
    text: command.form === undefined ? name : `${name} `,
    detail: command.form === undefined ? command.help : `${command.form}  ${command.help}`,
    isWhole: command.needs === undefined,
  }))

const formWidth = 24

/** Keys of a terminal that a person may not guess. */
const keys = [
  ['Esc', 'stop the agent; twice when idle: edit the last prompt'],
  ['Alt-Enter, \\ Enter', 'new line (also Shift-Enter in some terminals)'],
  ['↑, Ctrl-R', 'previous input; search it'],
] as const

export interface HelpOptions {
  /** Effect of Ctrl-C. */
  readonly ctrlC: string
  /** True for a chat at a terminal. */
  readonly isTyped: boolean
  readonly has: ChatParts
}

/** Returns the text of `/help`: the available commands and the keys. */
export const chatHelp = ({ ctrlC, isTyped, has }: HelpOptions): string =>
  [
    ...commandsWith(has).map(([name, { form = '', help }]) => [`${name} ${form}`, help] as const),
    ...(isTyped ? keys : []),
    ['Ctrl-C', ctrlC] as const,
  ]
    .map(([form, help]) => `  ${form.padEnd(formWidth)}  ${help}\n`)
    .join('') + '  A line typed while the agent works reaches it between two tool calls.\n'

/** Parses a line of a chat: a slash command or a message. A path like `/etc/hosts` is a message. */
export function readChatLine(line: string): ChatLine {
  const said = line.trim()
  if (said === '') return { type: 'nothing' }
  const [word = ''] = said.split(/\s/, 1)
  const text = said.slice(word.length).trim()
  const name = Object.hasOwn(aliases, word) ? aliases[word]! : word
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined
  if (command !== undefined && (text === '' || command.form !== undefined))
    return text === '' && command.needs !== undefined
      ? { type: 'print', text: `  ${name} needs ${command.needs}.\n` }
      : command.read(text)
  if (/^\/[a-z]+$/.test(said))
    return { type: 'print', text: `  There is no ${said}. There are: ${Object.keys(slashCommands).join(', ')}.\n` }
  return { type: 'say', text: line }
}

/** Returns true if a line is a command even while a question is open. */
export const isSlashCommand = (line: string): boolean => !['say', 'nothing', 'print'].includes(readChatLine(line).type)

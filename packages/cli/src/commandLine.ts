import { parseArgs } from 'node:util'
import { nearestWord } from '../../../src/protocol/checks/nearestWord.ts'
import {
  isRepeated,
  options as optionTable,
  takesValue,
  type OptionName,
  type RepeatedOption,
  type ValueOption,
} from './options.ts'

const helpWord = 'help'
/** Names of the version option. Programs use either `-V` or `-v`, so both work. */
const versionNames = ['version', 'v']

/** Facts about a command for the parser. */
export interface CommandShape {
  readonly options: readonly OptionName[]
  readonly task: 'required' | 'optional' | 'none'
  /** Name of the operand in messages. Default: a task. */
  readonly operand?: { readonly name: string; readonly example: string }
  /** Names of the words before the operand. */
  readonly before?: readonly string[]
}

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S

/** Name of an option's field in an invocation. The operand is `task`, so `--task` has the field `taskFolder`. */
type FieldOf<S extends string> = S extends 'task' ? 'taskFolder' : CamelCase<S>

/** Option values by camel-case name. `help` and `version` are handled earlier. */
type OptionValues = {
  readonly [O in Exclude<OptionName, 'help' | 'version'> as FieldOf<O>]: O extends RepeatedOption
    ? readonly string[]
    : O extends ValueOption
      ? string | undefined
      : boolean
}

/** Returns the name of an option's field in an invocation. Pure. */
export const fieldOf = (name: OptionName): keyof OptionValues =>
  (name === 'task'
    ? 'taskFolder'
    : name.replaceAll(/-[a-z]/g, (part) => part.slice(1).toUpperCase())) as keyof OptionValues

const names = Object.keys(optionTable) as readonly OptionName[]

const parserOptions = Object.fromEntries(
  names.map((name) => {
    const short = /, -(\w)/.exec(optionTable[name][0])?.[1]
    return [name, { type: takesValue(name) ? 'string' : 'boolean', ...(short === undefined ? {} : { short }) } as const]
  }),
)

/** A parsed command line. */
export interface Invocation extends OptionValues {
  readonly command: string
  /** The words before the task, as many as the command wants. */
  readonly before: readonly string[]
  readonly task: string | undefined
}

export type CommandLine =
  | { readonly type: 'command'; readonly invocation: Invocation }
  /** A request for the help of `command`, or of all commands if it is missing. */
  | { readonly type: 'help'; readonly command?: string }
  | { readonly type: 'version' }
  /** A mistake. `command`: the command whose help explains it, if known. */
  | { readonly type: 'mistake'; readonly message: string; readonly command?: string }

const mistake = (message: string, command?: string): CommandLine => ({
  type: 'mistake',
  message,
  ...(command === undefined ? {} : { command }),
})

/** Parses the arguments after the program's name. Never throws: returns a mistake as a message. */
export function parseCommandLine(
  args: readonly string[],
  commands: Readonly<Record<string, CommandShape>>,
): CommandLine {
  // Not strict: the parser's own messages make no suggestions.
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const options = tokens.filter((token) => token.kind === 'option')
  const [command, ...rest] = words
  if (command === helpWord) return helpOn(rest[0], commands)
  if (options.some(({ name }) => name === 'help')) return helpOn(command, commands)
  if (options.some(({ name }) => versionNames.includes(name))) return { type: 'version' }
  const shape = command !== undefined && Object.hasOwn(commands, command) ? commands[command] : undefined
  const allowed = [...new Set([...(shape?.options ?? names), 'help', 'version'])]
  const values: { [name: string]: string | true | readonly string[] } = {}
  for (const { name, rawName, value, inlineValue } of options) {
    const wrong = wrongOption({ name, rawName, value, inlineValue }, allowed, command)
    if (wrong !== undefined) return mistake(wrong, shape === undefined ? undefined : command)
    const before = values[name]
    values[name] = isRepeated(name as OptionName) ? [...(Array.isArray(before) ? before : []), value!] : (value ?? true)
  }
  if (command === undefined)
    return options.length === 0 ? { type: 'help' } : mistake(`Name a command: ${list(Object.keys(commands))}.`)
  if (shape === undefined) return unknownCommand(command, commands)
  const operands = readOperands(command, shape, rest)
  if (typeof operands === 'string') return mistake(operands, command)
  return { type: 'command', invocation: { command, ...operands, ...readOptions(values) } }
}

type Operands = Pick<Invocation, 'before' | 'task'>

/** Returns the operands, or a message on the mistake in them. */
function readOperands(command: string, shape: CommandShape, words: readonly string[]): Operands | string {
  const wanted = shape.before ?? []
  const before = words.slice(0, wanted.length)
  const last = words.slice(wanted.length)
  const task = last.length === 0 ? undefined : last.join(' ')
  if (shape.task === 'none' && task !== undefined) return `"${command}" takes no task; it got "${task}".`
  const { name: operand, example } = shape.operand ?? { name: 'task', example: '"fix the failing test"' }
  const missing = wanted.find((_, i) => (before[i] ?? '').trim() === '')
  if (missing !== undefined)
    return `"${command}" needs ${article(missing)} ${missing}, like: escapement ${command} ${example}`
  if (task?.trim() === '') return `The ${operand} is empty. Give one, like: escapement ${command} ${example}`
  if (shape.task === 'required' && task === undefined)
    return `"${command}" needs ${article(operand)} ${operand}, like: escapement ${command} ${example}`
  return { before, task }
}

function readOptions(values: { readonly [name: string]: string | true | readonly string[] }): OptionValues {
  const read = names.map((name) => {
    const value = values[name]
    return [fieldOf(name), isRepeated(name) ? (value ?? []) : takesValue(name) ? value : value !== undefined]
  })
  return Object.fromEntries(read) as OptionValues
}

function helpOn(command: string | undefined, commands: Readonly<Record<string, CommandShape>>): CommandLine {
  if (command === undefined || command === helpWord) return { type: 'help' }
  return Object.hasOwn(commands, command) ? { type: 'help', command } : unknownCommand(command, commands)
}

const unknownCommand = (command: string, commands: Readonly<Record<string, CommandShape>>): CommandLine =>
  mistake(unknown(`command "${command}"`, command, [...Object.keys(commands), helpWord], ''))

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function wrongOption(
  { name, rawName, value, inlineValue }: OptionToken,
  allowed: readonly string[],
  command: string | undefined,
) {
  if (!allowed.includes(name)) {
    const known = Object.hasOwn(optionTable, name)
    if (known && command !== undefined) return `"${command}" takes no option ${rawName}.`
    return unknown(`option ${rawName}`, name, allowed, '--')
  }
  if (!takesValue(name as OptionName))
    return value === undefined ? undefined : `${rawName} takes no value; it got "${value}".`
  // Otherwise "--dir --json" would take the next option as the folder.
  const isMissing = value === undefined || value === '' || (inlineValue !== true && value.startsWith('-'))
  return isMissing ? `${rawName} needs a value.` : undefined
}

const article = (noun: string): string => (/^[aeio]/.test(noun) ? 'an' : 'a')

const list = (words: readonly string[]): string => words.join(', ')

function unknown(what: string, word: string, words: readonly string[], prefix: string): string {
  const nearest = nearestWord(word, words)
  const named = words.map((name) => prefix + name)
  return `There is no ${what}. ${nearest === undefined ? `There are: ${list(named)}.` : `Did you mean ${prefix}${nearest}?`}`
}

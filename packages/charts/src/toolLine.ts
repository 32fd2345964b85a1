import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { EventOf } from '../../../src/protocol/events.ts'
import { textOf } from '../../../src/protocol/text/messageText.ts'
import { counted } from './amounts.ts'
import { oneLine } from './plainText.ts'

const maxArguments = 60
const maxOutcome = 80

type Input = Readonly<Record<string, unknown>>

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const lines = (output: string): string[] => output.split('\n').filter((line) => line !== '' && !/^\[.*\]$/.test(line))

/** Short forms of arguments and result, for tools of which only a part is worth showing. */
const known: Readonly<Record<string, { input(input: Input): string; outcome(output: string): string }>> = {
  read_file: { input: ({ path }) => text(path), outcome: (output) => counted(lines(output).length, 'line') },
  list_files: {
    input: ({ path, pattern }) => [path, pattern].map(text).filter(Boolean).join(' '),
    outcome: (output) => counted(lines(output).length, 'file'),
  },
  search_files: { input: ({ pattern }) => text(pattern), outcome: (output) => counted(lines(output).length, 'line') },
  edit_file: {
    input: ({ path }) => text(path),
    outcome: (output) => /: (\d+ replacements?)/.exec(output)?.[1] ?? 'edited',
  },
  write_file: { input: ({ path }) => text(path), outcome: (output) => firstLine(output) },
  run_command: {
    input: ({ command }) => text(command),
    outcome: (output) => /\[([^[\]]+?) after [\d.]+ s/.exec(output.slice(-300))?.[1] ?? firstLine(output),
  },
  recall: {
    input: ({ step, query }) => [step, query].map(text).filter(Boolean).join(' '),
    outcome: (output) => firstLine(output).replace(/:$/, ''),
  },
  revert_to_state: {
    input: ({ category, step }) => `${text(step)} (${text(category)})`,
    outcome: () => 'asked for',
  },
}

const firstLine = (output: string): string => output.trimStart().split('\n', 1)[0] ?? ''

const cut = (value: string, max: number): string => cutEnd(oneLine(value), max)

/** Returns the only argument of a call, such as the task of a sub-agent; `undefined` unless it is one non-empty string. */
function onlyText(input: Input): string | undefined {
  const [value, ...rest] = Object.values(input)
  return typeof value === 'string' && value !== '' && rest.length === 0 ? value : undefined
}

const isEmpty = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && Object.keys(input).length === 0

/** Describes a call in a few words: `run_command npm test`. */
export function callLine(name: string, input: unknown): string {
  const given = typeof input === 'object' && input !== null ? (input as Input) : {}
  const short = Object.hasOwn(known, name)
    ? known[name]!.input(given)
    : (onlyText(given) ?? (isEmpty(input) ? '' : JSON.stringify(input)) ?? '')
  return `${cut(name, maxArguments)} ${cut(short, maxArguments)}`.trim()
}

/** Describes the outcome of a call in a few words: `exit code 1`, `5 lines`, or the error's first line. */
export function outcomeLine({ name, message }: Pick<EventOf<'tool.end'>, 'name' | 'message'>): string {
  const output = textOf(message.content)
  const { synthetic } = message
  if (synthetic !== undefined) {
    const said = firstLine(output)
    return cut(said.toLowerCase().startsWith(synthetic) ? said : `${synthetic}: ${said}`, maxOutcome)
  }
  return cut(knownOutcome({ name, message }) ?? firstLine(output), maxOutcome)
}

/** Describes the outcome of a call whose tool is known by name, such as `61 lines` of a file. `undefined` if its result must be read. */
export function knownOutcome({ name, message }: Pick<EventOf<'tool.end'>, 'name' | 'message'>): string | undefined {
  const isKnown =
    message.synthetic === undefined && Object.hasOwn(known, name) && (!message.isError || name === 'run_command')
  return isKnown ? known[name]!.outcome(textOf(message.content)) : undefined
}

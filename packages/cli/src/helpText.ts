import type { Command, CommandGroup } from './command.ts'
import { examples } from './examples.ts'
import { providers } from './models/providers.ts'
import { options, type OptionName } from './options.ts'

const groups: { readonly [G in CommandGroup]: string } = {
  work: 'Work',
  sessions: 'Sessions',
  logs: 'Logs',
  network: 'Network',
}

const common: readonly OptionName[] = ['dir', 'logs', 'model', 'json', 'yes', 'help', 'version']

const optionLines = (names: readonly OptionName[], meanings: Command['meanings'] = {}): string =>
  names.map((name) => `  ${options[name][0].padEnd(24)}${meanings[name] ?? options[name][1]}\n`).join('')

const inGroup = (commands: Readonly<Record<string, Command>>, group: CommandGroup): string =>
  Object.values(commands)
    .filter((command) => command.group === group)
    .map(({ usage, summary }) => `  escapement ${usage.padEnd(24)}${summary}\n`)
    .join('')

/** Returns the text of `--help`; no line is longer than 100 columns. */
export function helpText(commands: Readonly<Record<string, Command>>): string {
  const lists = Object.entries(groups).map(([group, title]) => `${title}:\n${inGroup(commands, group as CommandGroup)}`)
  const models = Object.entries(providers).map(
    ([name, { packageName, keys, defaultModel }]) =>
      `  ${`${name}:<model id>`.padEnd(22)}${packageName.padEnd(19)}${keys[0].padEnd(30)}${defaultModel}\n`,
  )
  return `escapement: agents that work in a folder with tools, recorded from the first message on.

${lists.join('\n')}
Options (escapement help <command> has those of one command):
${optionLines(common)}
Models (provider, package to install, key in the environment, default):
${models.join('')}
Without --model the first one whose key is set and whose package is installed is used, else the
embedded model: a small program that needs no key and can only repair failing tests.

Everything said and done is recorded in <folder>/.escapement, requests included. Commands that the
agent wants to run need your approval at a terminal and are denied without one, unless --yes. They
are not sandboxed: only the file tools are confined to the folder.

Exit codes: 0 done, 1 not done, 2 wrong usage, 130 stopped by Ctrl-C.
`
}

const exampleLines = (name: string): string => {
  const rows = examples[name] ?? []
  const lines = rows.map(([line, what]) => `  # ${what}\n  escapement ${line}\n`)
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('')}`
}

/** Returns the text of `escapement help <command>`. */
export function commandHelp(name: string, command: Command): string {
  const { usage, summary, details = [], options: names, meanings } = command
  return `escapement ${usage} [options]
  ${summary}
${details.map((line) => `\n${line}`).join('')}${details.length === 0 ? '' : '\n'}
Options:
${optionLines([...names, 'help'], meanings)}${exampleLines(name)}`
}

/**
 * Lays out a help text for a terminal that is narrower than its lines. Paragraphs are refilled. In lines with columns, the rest moves below
 * the last column, or below the indent if that column has too little room. Pure.
 */
export const fittedHelp = (text: string, columns: number): string =>
  text.split('\n').every((line) => line.length <= columns)
    ? text
    : paragraphsOf(text)
        .flatMap((line) => brokenLine(line, columns))
        .join('\n')

const isText = (line: string): boolean => line !== '' && !line.startsWith(' ')
/** Matches a line that begins its own paragraph: about JSON, or about an action. */
const begins = /^(?:JSON|[a-z]+(?: [^:]{1,24})?: )/

/** Joins the lines of each paragraph. Indented lines and headings are not part of paragraphs. */
function paragraphsOf(text: string): string[] {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const before = lines.at(-1) ?? ''
    const goesOn = isText(before) && !before.endsWith(':') && isText(line) && !begins.test(line)
    if (goesOn) lines[lines.length - 1] = `${before} ${line}`
    else lines.push(line)
  }
  return lines
}

const leastRoom = 20

function brokenLine(line: string, columns: number): string[] {
  const [indent = ''] = /^ */.exec(line) ?? []
  const [before = ''] = /^ *\S.*\S {2,}(?=\S)/.exec(line) ?? []
  const margin =
    before !== '' && columns - before.length >= leastRoom ? before.length : indent.length + (indent === '' ? 0 : 2)
  const rows: string[] = []
  let rest = line
  while (rest.length > columns) {
    const blank = rest.lastIndexOf(' ', columns)
    const end = blank > margin ? blank : columns
    rows.push(rest.slice(0, end).trimEnd())
    rest = ' '.repeat(margin) + rest.slice(end).trimStart()
  }
  return [...rows, rest]
}

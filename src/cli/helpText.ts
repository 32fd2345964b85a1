import type { Command, CommandGroup } from './command.ts'
import type { OptionName } from './commandLine.ts'
import { providers } from './models/providers.ts'

/** Each option's syntax and description. */
const options: { readonly [O in OptionName]: readonly [form: string, text: string] } = {
  dir: ['--dir <folder>', 'where to work, and where the logs are; default: the current folder'],
  logs: ['--logs <folder>', 'the folder of the logs itself; default: .escapement in that of --dir'],
  model: ['--model <provider:id>', 'the model, or ESCAPEMENT_MODEL; "embedded" needs no key'],
  'time-limit': ['--time-limit <ms>', 'of demo sort: what the sort is held to'],
  turn: ['--turn <n>', 'this turn'],
  request: ['--request', 'exactly what the model was sent'],
  to: ['--to <n>', 'up to and with this turn'],
  speed: ['--speed <x>', 'divide the recorded pauses by this; 0: none'],
  at: ['--at <node>', 'the node to go on from, like n12'],
  id: ['--id <id>', 'of the new session, one is made by default; of chart: which agent'],
  out: ['--out <file>', 'where to write; default: standard output'],
  port: ['--port <n>', 'where to listen; default: any free one'],
  host: ['--host <address>', 'where to listen; default 127.0.0.1, beyond it a token is needed'],
  token: ['--token <token>', 'who may come in; default: ESCAPEMENT_TOKEN'],
  spawn: ['--spawn <definition>', 'a new agent of what the server defines; <id> is its own, or made'],
  steer: ['--steer', 'into the run under way, before its next step; at rest it begins one'],
  'follow-up': ['--follow-up', 'into the run under way, once the agent would be done'],
  'no-wait': ['--no-wait', 'end once the server has it'],
  acp: ['--acp', 'speak the Agent Client Protocol at /acp too'],
  'ag-ui': ['--ag-ui', 'speak AG-UI at /ag-ui too'],
  stately: ['--stately', 'send the Stately inspector’s messages at /stately'],
  'no-serve': ['--no-serve', 'without the inspector page'],
  stay: ['--stay', 'keep the page up until Ctrl-C; default at a terminal'],
  format: ['--format <name>', 'of a picture: mermaid, svg or json; of show also text'],
  direction: ['--direction <way>', 'of a chart: down or right; default: down'],
  json: ['--json', 'print JSON and nothing else'],
  yes: ['--yes, -y', 'do not ask: run commands, delete'],
  help: ['--help, -h', 'this text; of one command: escapement help <command>'],
  version: ['--version, -V, -v', 'the version'],
}

const groups: { readonly [G in CommandGroup]: string } = {
  work: 'Work',
  sessions: 'Sessions',
  logs: 'Logs',
  network: 'Network',
}

const common: readonly OptionName[] = ['dir', 'logs', 'model', 'json', 'yes', 'help', 'version']

const optionLines = (names: readonly OptionName[]): string =>
  names.map((name) => `  ${options[name][0].padEnd(24)}${options[name][1]}\n`).join('')

const inGroup = (commands: Readonly<Record<string, Command>>, group: CommandGroup): string =>
  Object.values(commands)
    .filter((command) => command.group === group)
    .map(({ usage, summary }) => `  escapement ${usage.padEnd(24)}${summary}\n`)
    .join('')

/** What `--help` prints; no line is longer than 100 columns. */
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

What is said and done is recorded in <folder>/.escapement, with every request. A command is asked
for at a terminal and denied without one, unless --yes is said. Commands are not sandboxed: only
the file tools stay in the folder.

Exit codes: 0 done, 1 not done, 2 wrong usage, 130 stopped by Ctrl-C.
`
}

/** What `escapement help <command>` prints. */
export function commandHelp({ usage, summary, details = [], options: names }: Command): string {
  return `escapement ${usage} [options]
  ${summary}
${details.map((line) => `\n${line}`).join('')}${details.length === 0 ? '' : '\n'}
Options:
${optionLines([...names, 'help'])}`
}

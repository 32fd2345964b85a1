import { readShellChars, shellCommands, type ShellCommand } from './shellCommands.ts'

/**
 * Returns true if a call only waits for something outside, as its arguments say: a shell command that sleeps, waits or follows a log, or a tool or
 * action of that name. Takes linear time. Pure.
 */
export function waits({ name, input }: { readonly name: string; readonly input: unknown }): boolean {
  if (isName(name)) return true
  if (typeof input !== 'object' || input === null) return false
  const given = input as Readonly<Record<string, unknown>>
  if (isName(given['action'])) return true
  return commandFields.some((field) => isWaitingText(textIn(given[field]), 0))
}

/** Names of tools, and of actions of a tool, that wait. */
const waitingNames: ReadonlySet<string> = new Set(['wait', 'sleep'])
const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.length < 10 && waitingNames.has(value.toLowerCase())

/** Names of arguments that hold a command. */
const commandFields = ['command', 'cmd', 'commands', 'script'] as const

/** Returns true if a call gives a command to a shell. */
export const asksShell = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && commandFields.some((field) => field in input)

/** Returns the command as a text. Some tools take it as a list of words, the last of which may be a script. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  const words = value.slice(0, 100).filter((word) => typeof word === 'string')
  return words.map(quoted).join(' ')
}

const quoted = (word: string): string =>
  /^[\w./:=-]{1,200}$/.test(word) ? word : `'${word.slice(0, readShellChars).replaceAll("'", '"')}'`

/** Maximum nesting of shells in shells that is read. */
const deepest = 3

const isWaitingText = (text: string, depth: number): boolean =>
  depth <= deepest && shellCommands(text).some((command) => isWaiting(command, depth))

function isWaiting({ words, isBackground }: ShellCommand, depth: number): boolean {
  if (isBackground) return false
  let at = 0
  while (at < words.length && isBefore(words, at)) at += 1
  const [first = '', ...args] = words.slice(at)
  const name = first
    .slice(first.lastIndexOf('/') + 1)
    .replace(/\.exe$/i, '')
    .toLowerCase()
  if (shells.has(name)) return isWaitingText(scriptOf(name, args), depth + 1)
  return table.get(name)?.(args) === true
}

/** Words before the name of a command: keywords, and commands that run another. */
const before: ReadonlySet<string> = new Set([
  '!',
  'do',
  'then',
  'else',
  'elif',
  'if',
  'time',
  'sudo',
  'exec',
  'command',
  'builtin',
  'nohup',
  'nice',
  'env',
  'stdbuf',
  'npx',
  'bunx',
  'timeout',
  'gtimeout',
])

/** Returns true for a word before a command's name, its options and limits, and `NAME=value`. `timeout /t 60` is a command of its own. */
function isBefore(words: readonly string[], at: number): boolean {
  const word = words[at]!
  if (word === 'timeout' && isTimeoutOfWindows(words.slice(at + 1))) return false
  if (before.has(word)) return true
  if (/^[A-Za-z_]\w{0,100}=/.test(word)) return true
  return at > 0 && /^(?:-|\d)/.test(word)
}

const isTimeoutOfWindows = (args: readonly string[]): boolean => has(args, '/t', '/T')

const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'dash',
  'ksh',
  'fish',
  'pwsh',
  'powershell',
  'cmd',
  'ssh',
])

/** Returns the script that a shell is given: the words after `-c`, `-lc`, `-Command` or `/c`; for `ssh` its last words. */
function scriptOf(name: string, args: readonly string[]): string {
  if (name === 'ssh') return args.slice(1).join(' ')
  const at = args.findIndex((word) => /^(?:-\w{0,5}c|-command|\/c)$/i.test(word))
  return at < 0 ? '' : args.slice(at + 1).join(' ')
}

type Judge = (args: readonly string[]) => boolean

const has = (args: readonly string[], ...words: readonly string[]): boolean => args.some((word) => words.includes(word))
const always: Judge = () => true
/** Returns a judge for a single letter among joined options, such as the `f` of `-fn20`, or a long form. */
const hasOption =
  (letter: string, ...long: readonly string[]): Judge =>
  (args) =>
    args.some(
      (word) =>
        (/^-[a-zA-Z0-9]{1,20}$/.test(word) && word.includes(letter)) ||
        long.some((name) => word === name || word.startsWith(`${name}=`)),
    )
const follows = hasOption('f', '--follow')
const isFollowing: Judge = (args) => follows(args) || hasOption('F')(args)
const sleepsIn: Judge = (args) => args.some((word) => word.includes('sleep(') || word.includes('setTimeout('))

/** Commands that wait, by name. `while` and `until` are the loops of a shell, with the first words of their condition. */
const table: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...(
    ['sleep', 'usleep', 'wait', 'watch', 'until', 'start-sleep', 'wait-process', 'wait-job', 'wait-event'] as const
  ).map((name): [string, Judge] => [name, always]),
  ...(['inotifywait', 'fswatch', 'wait-on', 'wait-for', 'wait-for-it', 'wait-for-it.sh', 'pwait'] as const).map(
    (name): [string, Judge] => [name, always],
  ),
  ...(['python', 'python3', 'node', 'perl', 'ruby', 'deno', 'bun'] as const).map((name): [string, Judge] => [
    name,
    sleepsIn,
  ]),
  ['while', ([first = '']) => ['!', 'true', ':', 'pgrep', 'kill', 'ps', 'sleep'].includes(first)],
  ['timeout', isTimeoutOfWindows],
  ['tail', isFollowing],
  ['journalctl', isFollowing],
  ['get-content', hasOption('\0', '-Wait', '-wait')],
  ['read', hasOption('t')],
  ['docker', isWaitingContainer],
  ['podman', isWaitingContainer],
  ['kubectl', isWaitingCluster],
  ['oc', isWaitingCluster],
  ['gh', (args) => has(args, '--watch') || (args[0] === 'run' && args[1] === 'watch')],
  ['aws', (args) => args[1] === 'wait'],
  ['systemctl', (args) => has(args, '--wait')],
])

function isWaitingCluster(args: readonly string[]): boolean {
  const isRollout = has(args, 'rollout') && has(args, 'status')
  return args[0] === 'wait' || isRollout || has(args, '-w', '--watch') || (has(args, 'logs') && follows(args))
}

function isWaitingContainer(args: readonly string[]): boolean {
  const [first, ...rest] = args[0] === 'compose' ? args.slice(1) : args
  return first === 'wait' || (first === 'logs' && follows(rest))
}

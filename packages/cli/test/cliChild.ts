import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CaseContext } from '../../../test/support/suite.ts'

const mainScript = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export interface ChildEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliChild {
  /** Standard output so far. */
  readonly stdout: string
  /** Standard error so far. */
  readonly stderr: string
  send(text: string): void
  endInput(): void
  signal(signal: NodeJS.Signals): void
  /** Resolves once standard output holds the text after what was waited for last; rejects when the process ends before. */
  until(text: string): Promise<void>
  readonly ended: Promise<ChildEnd>
}

export interface ChildOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Whole standard input; else it stays open. */
  readonly input?: string
  /** A program and arguments to start before node's. */
  readonly script?: string
}

/** A folder with these files, gone after the case. */
export function projectFolder(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  files: Readonly<Record<string, string>> = {},
): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-cli-test-')))
  cleanup(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return dir
}

/** An environment with nothing in it that could choose a model or a colour. */
export const cleanEnv = (dir: string): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
  // What it compiles is kept, as for this process.
  ...(process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
  HOME: dir,
  TMPDIR: dir,
  TERM: 'xterm',
})

/** The command line's arguments for this Node. */
export const cliCommand = (args: readonly string[], script: string = mainScript): readonly string[] => [
  process.execPath,
  script,
  ...args,
]

/** Starts any command; it is killed after the case at the latest. */
export function startChild(context: CaseContext, command: readonly string[], options: ChildOptions = {}): CliChild {
  const cwd = options.cwd ?? projectFolder(context)
  const [file = '', ...args] = command
  const child = spawn(file, args, { cwd, env: { ...cleanEnv(cwd), ...options.env }, stdio: 'pipe' })
  let stdout = ''
  let stderr = ''
  let seen = 0
  let wake = (): void => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    wake()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => {})
  const ended = new Promise<ChildEnd>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
  let isEnded = false
  void ended.then(() => {
    isEnded = true
    wake()
  })
  context.cleanup(async () => {
    child.kill('SIGKILL')
    await ended
  })
  if (options.input !== undefined) child.stdin.end(options.input)
  return {
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    send: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    signal: (signal) => void child.kill(signal),
    until: async (text) => {
      for (let at = stdout.indexOf(text, seen); ; at = stdout.indexOf(text, seen)) {
        if (at !== -1) {
          seen = at + text.length
          return
        }
        if (isEnded)
          throw new Error(`The process ended without printing ${JSON.stringify(text)}:\n${stdout}\n${stderr}`)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    ended,
  }
}

/** Runs the command line to its end in a process of its own, as `runCli` of cliInProcess does in this one. */
export const spawnCli = (
  context: CaseContext,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<ChildEnd> => startChild(context, cliCommand(args), { input: '', ...options }).ended

/** For what processes of processes do, as there is nothing to await. */
export async function waitFor(isSo: () => boolean, signal: AbortSignal): Promise<void> {
  while (!isSo()) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Tells if a file is there and not empty. */
export const hasText = (path: string): boolean => existsSync(path) && readFileSync(path, 'utf8') !== ''

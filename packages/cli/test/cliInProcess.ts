import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { CliHost } from '../src/cliHost.ts'
import { runCli as runCommandLine } from '../src/runCli.ts'
import { cleanEnv, projectFolder, type ChildEnd } from './cliChild.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { plain } from './cliTerminal.ts'

export interface CliRun {
  /** Output so far, without colours and cursor moves. */
  readonly stdout: string
  /** The same, with them. */
  readonly raw: string
  readonly stderr: string
  send(text: string): void
  endInput(): void
  signal(): void
  /** Resolves once standard output holds the text after what was waited for last; rejects when the command ends before. */
  until(text: string): Promise<void>
  /** The exit code. */
  readonly ended: Promise<number>
}

export interface CliRunOptions {
  /** Where it works; a folder that is not there when left out. */
  readonly cwd?: string
  /** Both ends are a terminal of 80 columns. */
  readonly isTerminal?: boolean
  readonly env?: NodeJS.ProcessEnv
  /** The whole standard input; else it stays open. */
  readonly input?: string
  /** Function that runs the arguments; the command line when left out. */
  readonly run?: typeof runCommandLine
}

/** Runs the command line in this process, with streams of its own. What is left of it is ended after the case. */
export function startCli(
  { cleanup, signal }: Pick<CaseContext, 'cleanup' | 'signal'>,
  args: readonly string[],
  { cwd = '/nowhere', isTerminal = false, env = {}, input, run = runCommandLine }: CliRunOptions = {},
): CliRun {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const signals = new EventEmitter()
  if (isTerminal) {
    Object.assign(stdin, { isTTY: true })
    Object.assign(stdout, { isTTY: true, columns: 80 })
  }
  let out = ''
  let raw = ''
  let err = ''
  let seen = 0
  let wake = (): void => {}
  stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text
    out += plain(text)
    wake()
  })
  stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  signal.addEventListener('abort', () => wake())
  const host = {
    stdin,
    stdout,
    stderr,
    env,
    cwd: () => cwd,
    on: (name: string, listener: () => void) => signals.on(name, listener),
    off: (name: string, listener: () => void) => signals.off(name, listener),
    exit: () => {},
  } as unknown as CliHost
  let isEnded = false
  const ended = run(args, host).finally(() => {
    isEnded = true
    // What was written last is read first.
    setImmediate(() => wake())
  })
  cleanup(async () => {
    stdin.end()
    signals.emit('SIGINT')
    signals.emit('SIGINT')
    await ended
  })
  if (input !== undefined) stdin.end(input)
  return {
    get stdout() {
      return out
    },
    get raw() {
      return raw
    },
    get stderr() {
      return err
    },
    send: (text) => void stdin.write(text),
    endInput: () => void stdin.end(),
    signal: () => void signals.emit('SIGINT'),
    async until(text) {
      for (let at = out.indexOf(text, seen); ; at = out.indexOf(text, seen)) {
        if (at !== -1) {
          seen = at + text.length
          return
        }
        if (isEnded || signal.aborted) throw new Error(`It did not print ${JSON.stringify(text)}:\n${out}\n${err}`)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    ended,
  }
}

/** Runs the command line to its end. */
export async function endedCli(
  context: Pick<CaseContext, 'cleanup' | 'signal'>,
  args: readonly string[],
  options: CliRunOptions = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly raw: string; readonly stderr: string }> {
  const run = startCli(context, args, { input: '', ...options })
  const code = await run.ended
  await new Promise((resolve) => setImmediate(resolve))
  return { code, stdout: run.stdout, raw: run.raw, stderr: run.stderr }
}

/** Moves this process to a folder, with variables that packages read by themselves; what it returns moves it back. */
function moveTo(cwd: string, env: NodeJS.ProcessEnv): () => void {
  const [folder, outside] = [process.cwd(), { ...process.env }]
  process.chdir(cwd)
  Object.assign(process.env, env)
  return () => {
    process.chdir(folder)
    for (const name of Object.keys(process.env)) if (!(name in outside)) delete process.env[name]
    Object.assign(process.env, outside)
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs the command line to its end in a folder, by default an empty one, and with nothing in its environment that is not given. The
 * process is in one folder at a time, so another call waits.
 */
export function runCli(
  context: Pick<CaseContext, 'cleanup' | 'signal'>,
  args: readonly string[],
  { cwd = projectFolder(context), env = {}, input = '', ...others }: Omit<CliRunOptions, 'isTerminal'> = {},
): Promise<ChildEnd> {
  const start = async (): Promise<ChildEnd> => {
    const given = { ...cleanEnv(cwd), ...env }
    const moveBack = moveTo(cwd, given)
    try {
      const started = startCli(context, args, { cwd, env: given, input, ...others })
      const code = await started.ended
      await new Promise((resolve) => setImmediate(resolve))
      return { code, stdout: started.raw, stderr: started.stderr }
    } finally {
      moveBack()
    }
  }
  const ended = last.then(start)
  last = ended.catch(() => {})
  return ended
}

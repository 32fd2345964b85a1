import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fullOnly } from '../../../test/support/fullOnly.ts'
import { assert, isCi, type CaseContext, type It } from '../../../test/support/suite.ts'
import { cleanEnv, cliCommand, projectFolder } from './cliChild.ts'
import { hasTmux, tmux } from './installTmux.ts'

/** A terminal as a person sees it, with the command line in it. */
export interface Tmux {
  /** Presses keys by tmux's names, such as `Enter`, `C-c` or `S-Enter`; anything else is typed. */
  press(...keys: readonly string[]): Promise<void>
  type(text: string): Promise<void>
  /** Pastes as a terminal does that tells pastes. */
  paste(text: string): Promise<void>
  resize(columns: number): Promise<void>
  /** The lines on the screen that are not empty; not those that it has scrolled away. */
  lines(): Promise<string[]>
  /** The lines that are not empty, with those that it has scrolled away. */
  all(): Promise<string[]>
  /** Column and row of the cursor, from 0. */
  cursor(): Promise<readonly [column: number, row: number]>
  /** Resolves with the lines once they fit. */
  until(isSo: (lines: readonly string[]) => boolean): Promise<string[]>
  /** The exit code, once the command has ended. */
  ended(): Promise<number>
}

export interface TmuxOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** A file that gets what it prints, through a pipe. */
  readonly into?: string
}

/** Starts the command line in a terminal of 80 columns and 24 rows. */
export async function startInTmux(
  context: CaseContext,
  args: readonly string[],
  { cwd, env = {}, into }: TmuxOptions,
): Promise<Tmux> {
  const socket = join(projectFolder(context), 'tmux')
  // Colours and keys of tmux's own terminal.
  const { TERM: _, ...clean } = cleanEnv(cwd)
  const run = (order: readonly string[], input?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const all = ['-S', socket, '-f', '/dev/null', ...order]
      const child = execFile('tmux', all, { env: { ...clean, LC_ALL: 'C.UTF-8' } }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(new Error(`tmux ${order[0]} failed`, { cause: error })),
      )
      child.stdin?.end(input)
    })
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  // What is set before it starts holds for it.
  await run(['new-session', '-d', '-x', '80', '-y', '24', 'sleep 1000'])
  context.cleanup(() =>
    run(['kill-server']).then(
      () => {},
      () => {},
    ),
  )
  await run(['set', '-s', 'extended-keys', 'on'])
  const ended = 'echo "exit code $?"; exec sleep 1000'
  // The code is that of the command, which is not the last one of the pipe.
  const piped = `{ "$@"; echo $? >.code; } | cat >${into}; (exit $(cat .code)); ${ended}`
  // Ctrl-C ends what runs in it, not the shell.
  const shell = ['sh', '-c', into === undefined ? `trap : INT; "$@"; ${ended}` : piped, 'sh']
  await run(['respawn-pane', '-k', '-c', cwd, ...variables, ...shell, ...cliCommand(args)])
  const lines = async (...more: readonly string[]): Promise<string[]> =>
    (await run(['capture-pane', '-p', ...more])).split('\n').filter((line) => line.trim() !== '')
  const told = async (format: string): Promise<string> => (await run(['display', '-p', format])).trim()
  /** There is nothing to await in another process's terminal. */
  const eventually = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (context.signal.aborted) throw new Error(`The screen shows:\n${(await lines()).join('\n')}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return {
    press: async (...keys) => void (await run(['send-keys', ...keys])),
    type: async (text) => void (await run(['send-keys', '-l', text])),
    async paste(text) {
      await run(['load-buffer', '-'], text)
      await run(['paste-buffer', '-p', '-r'])
    },
    resize: async (columns) => void (await run(['resize-window', '-x', String(columns)])),
    lines: () => lines(),
    all: () => lines('-S', '-'),
    async cursor() {
      const [column, row] = (await told('#{cursor_x} #{cursor_y}')).split(' ')
      return [Number(column), Number(row)]
    },
    until: (isSo) =>
      eventually(async () => {
        const now = await lines()
        return isSo(now) ? now : undefined
      }),
    ended: () =>
      eventually(async () => {
        const code = /^exit code (\d+)$/.exec((await lines()).at(-1) ?? '')?.[1]
        return code === undefined ? undefined : Number(code)
      }),
  }
}

/** A case that needs tmux; skipped where there is none, and failed where `CI` is set. */
export const inTmux = (it: It, title: string, body: (context: CaseContext) => Promise<void>): void => {
  fullOnly('tmux')
  if (hasTmux()) it(title, { timeoutMs: 120_000 }, body)
  else if (isCi()) it(title, () => assert.unreachable(`there is no tmux: ${tmux.advice}`))
  else it.skip(`${title} (skipped: there is no tmux: ${tmux.advice})`)
}

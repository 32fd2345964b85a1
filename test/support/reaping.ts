import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The variable by which a process is known as one that a run started; its value is that of the run. */
export const runMark = 'ESCAPEMENT_TEST_RUN'
/** The variable that names the file of tests in which a process was started. */
export const fileMark = 'ESCAPEMENT_TEST_FILE'

/** A process that had to be killed. */
export interface Reaped {
  /** The file of tests it was started in; `undefined`: none. */
  readonly file: string | undefined
  readonly command: string
}

/** Ends all processes that a run has left. */
export interface Reaper {
  /** Tells it the id of a process that begins a group. */
  tell(pid: number): void
  /** Ends processes that still run, and resolves with those that had to be killed. */
  end(): Promise<readonly Reaped[]>
}

/** Starts the reaper: a process of its own, which acts when this one asks it to, or has ended for any reason. */
export function startReaper(mark: string): Reaper {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'reaper.ts'), mark], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const isOver = once(child, 'close')
  isOver.catch(() => {})
  // It is gone, as where someone has killed all of this user's processes.
  child.stdin.on('error', () => {})
  return {
    tell: (pid) => void child.stdin.write(`${pid}\n`),
    async end() {
      child.stdin.end()
      await isOver
      const text = Buffer.concat(chunks).toString()
      return text === '' ? [] : (JSON.parse(text) as readonly Reaped[])
    },
  }
}

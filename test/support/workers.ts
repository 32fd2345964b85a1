import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { FileOrder, FileReport } from './worker.ts'

/** What came of a file. */
export interface FileEnd {
  /** `undefined`: the process ended before it had made one. */
  readonly report: FileReport | undefined
  /** What was written meanwhile, uvu's own lines included. */
  readonly output: string
}

const script = join(import.meta.dirname, 'worker.ts')
/** A file that never yields would hold the run for ever. */
const mostMs = 2_400_000
const graceMs = 2_000

/** A process that runs files, one at a time; another takes its place when it ends. */
export class Worker {
  readonly #env: NodeJS.ProcessEnv
  #life: Life | undefined

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  async run(order: FileOrder): Promise<FileEnd> {
    const life = (this.#life ??= new Life(this.#env))
    const end = await life.run(order)
    if (end.report === undefined) this.#life = undefined
    return end
  }

  /** Ends the process, whatever it does. */
  async close(): Promise<void> {
    await this.#life?.end()
    this.#life = undefined
  }
}

/** One process from its start to its end. */
class Life {
  readonly #child: ChildProcess
  readonly #isOver: Promise<void>
  #chunks: Buffer[] = []
  #written = 0
  #onOutput = (): void => {}

  constructor(env: NodeJS.ProcessEnv) {
    this.#child = fork(script, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env, execArgv: [] })
    this.#isOver = new Promise((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#written += chunk.length
      this.#chunks.push(chunk)
      this.#onOutput()
    })
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
  }

  async run(order: FileOrder): Promise<FileEnd> {
    this.#chunks = []
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), mostMs)
    const answer = new Promise<FileReport>((resolve) =>
      this.#child.once('message', resolve as (message: unknown) => void),
    )
    this.#child.send(order)
    const report = await Promise.race([answer, this.#isOver.then(() => undefined)])
    clearTimeout(timer)
    // Its words come another way than its report, or outlive it.
    if (report === undefined)
      await Promise.race([new Promise((resolve) => this.#child.once('close', resolve)), wait(graceMs)])
    else await Promise.race([this.#hasRead(report.written), this.#isOver])
    return { report, output: Buffer.concat(this.#chunks).toString() }
  }

  async end(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs)
    if (this.#child.connected) this.#child.disconnect()
    await this.#isOver
    clearTimeout(timer)
  }

  #hasRead(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onOutput = () => {
        if (this.#written >= bytes) resolve()
      }
      this.#onOutput()
    })
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isOver, stopwatch, timeoutFactor } from './deadline.ts'
import { processorTimeOf } from './processTable.ts'
import { isFull } from './testFiles.ts'
import type { FileOrder, FileReport } from './worker.ts'

/** Outcome of a file. */
export interface FileEnd {
  /** Report of the file; `undefined`: the process ended before it made one, or was killed because it took too long. */
  readonly report: FileReport | undefined
  /** Seconds after which it was ended. */
  readonly lateAfter?: number
  /** Output of the file, uvu's own lines included. */
  readonly output: string
}

const script = join(import.meta.dirname, 'worker.ts')
/** Most milliseconds of a file. A file that never yields would block the run for ever, because the deadlines of its cases could not fire. */
const mostMs = (file: string): number => (isFull(file) ? 1_200_000 : 60_000) * timeoutFactor()
const graceMs = 2_000
const watchMs = 1_000

/** A process that runs files, one at a time; another takes its place when it ends. */
export class Worker {
  readonly #env: NodeJS.ProcessEnv
  readonly #onStart: (pid: number) => void
  #life: Life | undefined

  constructor(env: NodeJS.ProcessEnv, onStart: (pid: number) => void) {
    this.#env = env
    this.#onStart = onStart
  }

  /** Runs a file, for at most `limit` milliseconds. */
  async run(order: FileOrder, limit = mostMs(order.file)): Promise<FileEnd> {
    const life = (this.#life ??= this.#start())
    const end = await life.run(order, limit)
    if (end.report === undefined) this.#life = undefined
    return end
  }

  #start(): Life {
    const life = new Life(this.#env)
    if (life.pid !== undefined) this.#onStart(life.pid)
    return life
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
    // In a group of its own: Ctrl-C is for the runner, which ends it with all that it started.
    this.#child = fork(script, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env, execArgv: [], detached: true })
    this.#isOver = new Promise((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#written += chunk.length
      this.#chunks.push(chunk)
      this.#onOutput()
    })
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async run(order: FileOrder, limit: number): Promise<FileEnd> {
    this.#chunks = []
    let lateAfter: number | undefined
    const stopWatching = this.#watch(limit, (seconds) => (lateAfter = seconds))
    const answer = new Promise<FileReport>((resolve) =>
      this.#child.once('message', resolve as (message: unknown) => void),
    )
    this.#child.send(order)
    const report = await Promise.race([answer, this.#isOver.then(() => undefined)])
    stopWatching()
    // Its words come another way than its report, or outlive it.
    if (report === undefined)
      await Promise.race([new Promise((resolve) => this.#child.once('close', resolve)), wait(graceMs)])
    else await Promise.race([this.#hasRead(report.written), this.#isOver])
    return { report, output: Buffer.concat(this.#chunks).toString(), ...(lateAfter === undefined ? {} : { lateAfter }) }
  }

  /** Kills it when `limit` milliseconds are over, by the rule that deadlines of cases have. */
  #watch(limit: number, onLate: (seconds: number) => void): () => void {
    const { pid = 0 } = this.#child
    const elapsed = stopwatch()
    const cpuBefore = processorTimeOf(pid)
    const timer = setInterval(
      () => {
        const now = elapsed()
        if (now.wall <= limit || !isOver({ ...now, cpu: processorTimeOf(pid) - cpuBefore }, limit)) return
        clearInterval(timer)
        onLate(limit / 1_000)
        this.#child.kill('SIGKILL')
      },
      Math.min(watchMs, limit),
    )
    return () => clearInterval(timer)
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

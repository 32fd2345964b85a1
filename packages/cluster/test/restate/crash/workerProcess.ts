import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Place } from './job.ts'
import type { WorkerSettings } from './workerSettings.ts'

/** Line that a process prints: where it listens, where an agent of its is, that none works any more. */
type Line =
  | { readonly port: number; readonly bridge?: string }
  | { readonly at: Place; readonly agentId: string }
  | { readonly rests: true }

/** A worker, or a gateway, in a process of its own. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #lines: Line[] = []
  #heard = Promise.withResolvers<void>()
  #errors = ''

  private constructor(program: string, argument: string) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, program), argument], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // It may be gone when it is told something.
    this.#child.stdin!.on('error', () => {})
    this.#child.stderr!.on('data', (data: Buffer) => (this.#errors += data.toString()))
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#hear(JSON.parse(line) as Line))
    this.#child.on('exit', () => this.#wake())
  }

  static worker(settings: WorkerSettings): WorkerProcess {
    return new WorkerProcess('workerChild.ts', JSON.stringify(settings))
  }

  /** `where`: the logs. */
  static gateway(where: string): WorkerProcess {
    return new WorkerProcess('gatewayChild.ts', where)
  }

  #hear(line: Line): void {
    this.#lines.push(line)
    this.#wake()
  }

  #wake(): void {
    this.#heard.resolve()
    this.#heard = Promise.withResolvers()
  }

  /** Resolves once it has said something that fits, so many times. */
  async #until<L extends Line>(fits: (line: Line) => line is L, times: () => number = () => 1): Promise<L | undefined> {
    for (;;) {
      const heard = this.#heard.promise
      const fitting = this.#lines.filter(fits)
      if (fitting.length >= times()) return fitting.at(-1)
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`a process of the cell has ended: ${this.#errors}`)
      await heard
    }
  }

  async port(): Promise<number> {
    return (await this.#until((line) => 'port' in line))!.port
  }

  /** Where the engine, or a balancer, reaches it. */
  async url(): Promise<string> {
    return `http://127.0.0.1:${await this.port()}`
  }

  /**
   * Resolves once all of these agents are at the place that it is armed for, or are done: one whose attempt was broken off on the way may
   * get beyond it without having been there.
   */
  async at(agents: readonly { readonly answers: Promise<unknown> }[]): Promise<void> {
    let left = agents.length
    const gone = (): void => {
      left -= 1
      this.#wake()
    }
    for (const { answers } of agents) void answers.then(gone, gone)
    await this.#until(
      (line) => 'at' in line,
      () => left,
    )
  }

  /** Lets agents go on that are there, and those that come. */
  goOn(): void {
    this.#child.stdin!.write('go on\n')
  }

  /** Resolves once it has noticed that it has nothing left to do. */
  async rests(): Promise<void> {
    this.#child.kill('SIGUSR2')
    await this.#until((line) => 'rests' in line)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** Idempotent. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

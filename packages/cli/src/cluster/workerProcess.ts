import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { backoffDelay } from '../../../../src/protocol/backoffDelay.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'

/** Addresses that a worker prints once it is up. */
export interface WorkerAddresses {
  /** Address at which the engine reaches the worker. */
  readonly url: string
  /** Address at which gateways reach the worker. */
  readonly bridge: string
}

/** Callbacks for the events of a worker. */
export interface WorkerListener {
  up(addresses: WorkerAddresses, pid: number): void
  /** Called when the worker ended unasked. `how`: the signal or the exit code. */
  gone(how: string): void
  /** Called when the worker did not end as asked, and was killed. */
  killed(): void
  /** Called with each line of the worker other than the one with its addresses. */
  said(line: string): void
}

/** Options of a worker process. */
export interface WorkerProcessOptions {
  /** Arguments for Node. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
}

const backoff = { baseMs: 200, maxMs: 10_000 } as const
/** Milliseconds after which a worker counts as started well. */
const livedMs = 10_000
/** Time in milliseconds for a worker to release its agents. */
const graceMs = 10_000

/** A worker in a process of its own, restarted when it dies; it ends with this process, even if this process is killed. */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions
  readonly #listener: WorkerListener
  readonly #ending = new AbortController()
  #child: ChildProcess | undefined
  readonly #running: Promise<void>
  readonly #first = Promise.withResolvers<void>()

  constructor(options: WorkerProcessOptions, listener: WorkerListener) {
    this.#options = options
    this.#listener = listener
    this.#first.promise.catch(() => {})
    this.#running = this.#run()
  }

  /**
   * Resolves when the worker is up for the first time. @throws RuntimeError `INTERNAL` if it ends before that, for example because of a wrong module
   */
  get up(): Promise<void> {
    return this.#first.promise
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Makes the worker release its agents and end. Resolves when it is gone. Idempotent. */
  async end(): Promise<void> {
    this.#ending.abort()
    const child = this.#child
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      if (child.connected) child.disconnect()
      const cancel = this.#options.clock.after(graceMs, () => {
        this.#listener.killed()
        child.kill('SIGKILL')
      })
      await once(child, 'exit')
      cancel()
    }
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#ending
    for (let attempt = 0; !signal.aborted; attempt++) {
      const from = clock.now()
      const how = await this.#live()
      if (signal.aborted) return
      this.#listener.gone(how)
      this.#first.reject(new RuntimeError('INTERNAL', `A worker did not start: it ended ${how}.`))
      if (clock.now() - from > livedMs) attempt = 0
      await pause(backoffDelay(attempt, backoff, Math.random()), clock, signal)
    }
  }

  /** Runs the process once; resolves with the way it ended. */
  async #live(): Promise<string> {
    const { args, cwd, env } = this.#options
    const child = spawn(process.execPath, [...args], {
      cwd,
      env,
      // It ends when this channel does.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    })
    this.#child = child
    const gone = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`(${error.message})`))
      child.once('exit', (code, signal) => resolve(signal === null ? `with code ${code}` : `by ${signal}`))
    })
    let isUp = false
    eachLine(child.stdout!, (line) => {
      const addresses = isUp ? undefined : addressesIn(line)
      if (addresses === undefined) return this.#listener.said(line)
      isUp = true
      this.#first.resolve()
      this.#listener.up(addresses, child.pid!)
    })
    eachLine(child.stderr!, (line) => this.#listener.said(line))
    return await gone
  }
}

/** Reads the worker's addresses from a line; `undefined` for any other line, such as output of a module. */
function addressesIn(line: string): WorkerAddresses | undefined {
  try {
    const value = JSON.parse(line) as { readonly [name in keyof WorkerAddresses]?: unknown } | null
    const { url, bridge } = value ?? {}
    return typeof url === 'string' && typeof bridge === 'string' ? { url, bridge } : undefined
  } catch {
    return undefined
  }
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) take(line)
  })
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { createServer, type AddressInfo } from 'node:net'

/** Returns a free port of this machine, for a program that does not report its port. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Program that runs the engine and stops it within five seconds of a line on standard input or the loss of its writer. Ends with the engine.
 */
const guard =
  'exec 3<&0; "$1" --no-logo --base-dir "$2/data" </dev/null >>"$2/engine.log" 2>&1 3<&- & engine=$!; ' +
  '{ read -r _ <&3; kill $engine; i=0; while kill -0 $engine && [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done; kill -9 $engine; } 2>/dev/null & reader=$!; ' +
  'wait $engine; code=$?; kill $reader 2>/dev/null; exit $code'

/** Settings of an engine for development on a single machine. It detects an unresponsive worker within two seconds. */
export const engineSettings = {
  RESTATE_DISABLE_TELEMETRY: 'true',
  RESTATE_CLUSTER_NAME: 'escapement',
  RESTATE_NODE_NAME: 'escapement',
  RESTATE_LISTEN_MODE: 'tcp',
  RESTATE_BIND_IP: '127.0.0.1',
  RESTATE_DEFAULT_NUM_PARTITIONS: '4',
  RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256MB',
  RESTATE_LOG_FILTER: 'warn',
  RESTATE_LOG_DISABLE_ANSI_CODES: 'true',
  RESTATE_WORKER__INVOKER__CONCURRENT_INVOCATIONS_LIMIT: '10000',
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: '1s',
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: '1s',
}

/** Options of an engine. */
export interface EngineOptions {
  readonly program: string
  /** Folder of the engine's log and data, kept between starts. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
}

const patienceMs = 30_000
/** Maximum number of starts, each with other ports. */
const mostTries = 3

/** A Restate server as a child process; it ends with this process, even if this process is killed. */
export class Engine {
  readonly ingress: string
  readonly admin: string
  readonly #guard: ChildProcess
  readonly #options: EngineOptions
  /** Resolves with the engine's exit code once it has ended. */
  readonly ended: Promise<number | null>

  private constructor(options: EngineOptions, child: ChildProcess, ports: { ingress: number; admin: number }) {
    this.#options = options
    this.#guard = child
    this.ingress = `http://127.0.0.1:${ports.ingress}`
    this.admin = `http://127.0.0.1:${ports.admin}`
    this.ended = once(child, 'exit').then(([code]) => code as number | null)
    void this.ended.then(() => child.stdin?.destroy())
  }

  /** Starts an engine, and resolves once it accepts requests. @throws RuntimeError `INTERNAL` with the end of its log if it does not come up */
  static async start(options: EngineOptions): Promise<Engine> {
    for (let tries = 1; ; tries += 1)
      try {
        return await Engine.#startOnce(options)
      } catch (thrown) {
        // A free port may be taken by another program before the engine has it.
        if (tries === mostTries || !/address (?:already )?in use/i.test(messageOf(thrown))) throw thrown
      }
  }

  static async #startOnce(options: EngineOptions): Promise<Engine> {
    const { program, folder, env } = options
    await mkdir(folder, { recursive: true })
    const ports = { ingress: await freePort(), admin: await freePort(), node: await freePort() }
    const child = spawn('sh', ['-c', guard, 'sh', program, folder], {
      env: {
        ...engineSettings,
        // What somebody has set themselves goes first.
        ...env,
        RESTATE_BIND_PORT: String(ports.node),
        RESTATE_INGRESS__BIND_PORT: String(ports.ingress),
        RESTATE_ADMIN__BIND_PORT: String(ports.admin),
      },
      stdio: ['pipe', 'ignore', 'ignore'],
      // Ctrl-C at a terminal is for this process, which ends the others in their order.
      detached: true,
    })
    const engine = new Engine(options, child, ports)
    try {
      await engine.#up()
      return engine
    } catch (thrown) {
      await engine.end()
      throw thrown
    }
  }

  /** Path of the engine's own log. */
  get logFile(): string {
    return join(this.#options.folder, 'engine.log')
  }

  async #up(): Promise<void> {
    const { clock } = this.#options
    const until = clock.now() + patienceMs
    for (const url of [`${this.ingress}/restate/health`, `${this.admin}/health`])
      while (!(await answers(url))) {
        if (this.#guard.exitCode !== null || clock.now() > until)
          throw new RuntimeError('INTERNAL', `The engine did not start: ${await this.#lastWords()}`)
        await pause(50, clock, undefined)
      }
  }

  async #lastWords(): Promise<string> {
    const log = await readFile(this.logFile, 'utf8').catch(() => '')
    return log.trim().split('\n').slice(-5).join('\n') || 'it said nothing.'
  }

  /** Resolves with true if the engine accepts requests. */
  isWell(): Promise<boolean> {
    return answers(`${this.ingress}/restate/health`)
  }

  /** Stops the engine, and resolves once it has ended. Its data is kept. Idempotent. */
  async end(): Promise<void> {
    if (this.#guard.exitCode === null) this.#guard.stdin?.end('\n')
    await this.ended
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

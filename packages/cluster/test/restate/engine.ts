import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineSettings } from '../../../cli/src/cluster/engine.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { findRestate } from './installRestate.ts'
import { keepProcess } from '../../../../test/support/startedProcesses.ts'

/**
 * Ends the engine when a line comes, and without one, when who started it is gone, removes its folder too: so that none is left behind,
 * whatever kills the tests.
 */
const guard =
  'server="$1"; dir="$2"; "$server" --no-logo --base-dir "$dir/data" </dev/null >>"$dir/log" 2>&1 & engine=$!; ' +
  'read -r signal; kill "-${signal:-KILL}" $engine; wait $engine; [ -n "$signal" ] || rm -rf "$dir"'

const settings = {
  ...engineSettings,
  RESTATE_CLUSTER_NAME: 'tests',
  RESTATE_NODE_NAME: 'tests',
  RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
}

/** Invocation as an engine describes it. */
export interface Invocation {
  readonly id: string
  readonly target: string
  readonly status: string
}

interface Ports {
  readonly ingress: number
  readonly admin: number
  readonly node: number
}

/** A Restate server of one node in a temporary folder. It ends with this process at the latest, and holds it not. */
export class Engine {
  readonly #dir: string
  readonly #ports: Ports
  readonly #more: Readonly<Record<string, string>>
  #guard: ChildProcess | undefined

  private constructor(dir: string, ports: Ports, more: Readonly<Record<string, string>>) {
    this.#dir = dir
    this.#ports = ports
    this.#more = more
  }

  /** `more`: settings, as variables of the environment. */
  static async start(more: Readonly<Record<string, string>> = {}): Promise<Engine> {
    for (let tries = 1; ; tries += 1) {
      const dir = await mkdtemp(join(tmpdir(), 'escapement-restate-'))
      const ports = { ingress: await freePort(), admin: await freePort(), node: await freePort() }
      const engine = new Engine(dir, ports, more)
      try {
        await engine.begin()
        return engine
      } catch (thrown) {
        await rm(dir, { recursive: true, force: true, maxRetries: 5 })
        // Another test took a port between here and there.
        if (tries === 3 || !/address in use/i.test(String(thrown))) throw thrown
      }
    }
  }

  get ingress(): string {
    return `http://127.0.0.1:${this.#ports.ingress}`
  }

  get admin(): string {
    return `http://127.0.0.1:${this.#ports.admin}`
  }

  /** Starts it again, after `end`. Resolves once it takes requests. */
  async begin(): Promise<void> {
    const program = findRestate()
    if (program === undefined) throw new Error('there is no Restate server')
    const child = spawn('sh', ['-c', guard, 'sh', program, this.#dir], {
      cwd: this.#dir,
      env: {
        ...process.env,
        ...settings,
        RESTATE_BIND_PORT: String(this.#ports.node),
        RESTATE_INGRESS__BIND_PORT: String(this.#ports.ingress),
        RESTATE_ADMIN__BIND_PORT: String(this.#ports.admin),
        ...this.#more,
      },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#guard = child
    keepProcess(child)
    child.unref()
    ;(child.stdin as Socket).unref()
    for (const url of [`${this.ingress}/restate/health`, `${this.admin}/health`])
      while (!(await answers(url))) {
        if (child.exitCode !== null) throw new Error(`the engine has ended:\n${await this.log()}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
  }

  /** Has it place the objects of a worker there, in place of where they were. */
  async register(uri: string): Promise<void> {
    await this.#ask('deployments', { method: 'POST', body: JSON.stringify({ uri, force: true, breaking: true }) })
  }

  /** The invocations of an object that it has not completed. */
  async invocations(service: string): Promise<readonly Invocation[]> {
    const query = `select id, target, status from sys_invocation where target_service_name = '${service}' and status <> 'completed'`
    for (;;) {
      try {
        const answer = await this.#ask('query', { method: 'POST', body: JSON.stringify({ query }) })
        return (answer as { rows: Invocation[] }).rows
      } catch (thrown) {
        // After a restart it asks itself as it was before, for a moment.
        if (!String(thrown).includes('was shut down')) throw thrown
      }
    }
  }

  async cancel(id: string): Promise<void> {
    await this.#ask(`invocations/${id}/cancel`, { method: 'PATCH' })
  }

  async #ask(path: string, init: RequestInit): Promise<unknown> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const response = await fetch(`${this.admin}/${path}`, { ...init, headers })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  /** Kills it; `begin` starts it again with what it had. */
  async kill(): Promise<void> {
    const child = this.#guard
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.ref()
    child.stdin?.end('KILL\n')
    await ended
  }

  /** Its process. */
  async pid(): Promise<number> {
    const shell = this.#guard?.pid
    return Number((await readFile(`/proc/${shell}/task/${shell}/children`, 'utf8')).trim().split(' ')[0])
  }

  /** Stands still until it is told to go on. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    process.kill(await this.pid(), signal)
  }

  async remove(): Promise<void> {
    await this.kill()
    await rm(this.#dir, { recursive: true, force: true })
  }

  /** Log that it has written. */
  log(): Promise<string> {
    return readFile(join(this.#dir, 'log'), 'utf8').catch(() => '')
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

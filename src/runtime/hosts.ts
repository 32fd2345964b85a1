import { RuntimeError } from '../protocol/errors.ts'
import type { AgentHost } from './agents/agentHost.ts'

/** Hosts of the loaded agents of a runtime, until their logs are released. */
export class Hosts {
  readonly #hosts = new Map<string, AgentHost>()
  readonly #releasing = new WeakMap<AgentHost, Promise<void>>()
  readonly #leave: (host: AgentHost) => void

  /** `leave`: called when a host is removed. */
  constructor(leave: (host: AgentHost) => void) {
    this.#leave = leave
  }

  get(agentId: string): AgentHost | undefined {
    return this.#hosts.get(agentId)
  }

  /** Adds a host. @throws RuntimeError `AGENT_EXISTS` if its id is in use, which is possible only with two stores */
  add(host: AgentHost): void {
    const { agentId } = host
    if (this.#hosts.has(agentId) && this.#hosts.get(agentId)?.store !== host.store) throw isRunning(agentId)
    this.#hosts.set(agentId, host)
  }

  /** @throws RuntimeError `AGENT_EXISTS` */
  checkFree(agentId: string): void {
    if (this.#hosts.has(agentId)) throw isRunning(agentId)
  }

  /** Resolves once the current release of its log is complete. */
  async released(agentId: string): Promise<void> {
    const host = this.#hosts.get(agentId)
    if (host !== undefined) await this.#releasing.get(host)?.catch(() => {})
  }

  /** Writes the rest of a log, and releases it; once. Rejects as the store does. */
  release(host: AgentHost): Promise<void> {
    if (this.#hosts.get(host.agentId) !== host) return this.#releasing.get(host)?.catch(() => {}) ?? Promise.resolve()
    const release = this.#releasing.get(host) ?? this.#release(host)
    this.#releasing.set(host, release)
    return release
  }

  async #release(host: AgentHost): Promise<void> {
    const { agentId } = host
    this.#leave(host)
    try {
      await host.release()
    } finally {
      if (this.#hosts.get(agentId) === host) this.#hosts.delete(agentId)
    }
  }

  /** Releases all hosts, as far as that is possible. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#hosts.values()].map((host) => this.release(host)))
  }
}

const isRunning = (agentId: string): RuntimeError =>
  new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is running already.`)

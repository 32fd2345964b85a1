import type { Clock } from '../../protocol/ports/clock.ts'
import type { Logger } from '../../protocol/ports/logger.ts'
import type { Closable } from '../../actors/tools/toolContext.ts'
import { endInTime, type EndOptions } from './endInTime.ts'

interface ResourcesOptions {
  readonly clock: Clock
  readonly logger?: Logger | undefined
  readonly clean: (text: string) => string
}

/** Resources that tools have opened, such as workspaces. Each is closed with its agent, or with the runtime. */
export class Resources {
  readonly #options: Omit<EndOptions, 'fields'>
  readonly #shared = new Set<Closable>()
  readonly #own = new Map<string, Set<Closable>>()

  constructor(options: ResourcesOptions) {
    this.#options = { ...options, what: 'something that a tool opened' }
  }

  /** Notes a resource to be closed; with `agentId`, when that agent ends. Returns false if it was known. */
  note(resource: Closable, agentId?: string): boolean {
    const all = agentId === undefined ? this.#shared : (this.#own.get(agentId) ?? new Set())
    if (all.has(resource)) return false
    all.add(resource)
    if (agentId !== undefined) this.#own.set(agentId, all)
    return true
  }

  /** Closes the resources of an agent that has ended. */
  async leave(agentId: string): Promise<void> {
    const all = this.#own.get(agentId)
    this.#own.delete(agentId)
    await Promise.all([...(all ?? [])].map((resource) => this.#end(resource, { agentId })))
  }

  /** Closes all resources. */
  async close(): Promise<void> {
    const shared = [...this.#shared]
    this.#shared.clear()
    await Promise.all([
      ...[...this.#own.keys()].map((agentId) => this.leave(agentId)),
      ...shared.map((resource) => this.#end(resource, {})),
    ])
  }

  #end(resource: Closable, fields: object): Promise<void> {
    return endInTime(async () => resource.close(), { ...this.#options, fields })
  }
}

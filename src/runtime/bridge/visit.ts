import type { Clock } from '../../protocol/clock.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Role } from '../../protocol/frames.ts'
import type { Agent } from '../agent.ts'
import { mayAct, reaches, type Grant } from './access.ts'
import type { Bridge } from './bridge.ts'
import type { BridgeLimits } from './limits.ts'

/** Somebody at an endpoint, and what the server lets them do. */
export class Visit {
  readonly role: Role
  readonly #bridge: Bridge
  readonly #grant: Grant

  /** Made by the server. */
  constructor(bridge: Bridge, grant: Grant) {
    this.#bridge = bridge
    this.#grant = grant
    this.role = grant.role
  }

  get clock(): Clock {
    return this.#bridge.clock
  }

  get limits(): BridgeLimits {
    return this.#bridge.limits
  }

  /** Names of the agents that can be spawned. */
  get definitions(): readonly string[] {
    return [...this.#bridge.definitions.keys()]
  }

  newId(): string {
    return this.#bridge.newId()
  }

  /** Running root agents within reach. */
  agents(): Agent[] {
    return this.#bridge.agents().filter((agent) => reaches(this.#grant, agent.id, agent.path))
  }

  /** Calls with every agent within reach that begins to run, sub-agents included; returns a function that ends it. */
  onAgent(listener: (agent: Agent) => void): () => void {
    return this.#bridge.onAgent((agent) => {
      if (reaches(this.#grant, agent.id, agent.path)) listener(agent)
    })
  }

  /** A JSON value without the secrets that the application named. */
  redact<T>(value: T): T {
    return this.#bridge.redactor?.value(value) ?? value
  }

  /** @throws RuntimeError `BRIDGE_FORBIDDEN` below a role; `what` is what was asked for. */
  mustBe(needs: Role, what: string): void {
    if (mayAct(this.role, needs)) return
    throw new RuntimeError('BRIDGE_FORBIDDEN', `"${what}" needs the role "${needs}"; this token has "${this.role}".`)
  }

  /** Starts an agent. Rejects with `BRIDGE_FORBIDDEN`, `INVALID_OPTION`, `INVALID_ID`, `AGENT_EXISTS`. */
  async spawn(definition: string, id?: string): Promise<Agent> {
    this.mustBe('admin', 'spawn')
    if (!reaches(this.#grant, id ?? '', [])) {
      throw new RuntimeError('BRIDGE_FORBIDDEN', 'This token reaches certain agents only, and the new one is none.')
    }
    return await this.#bridge.spawn(definition, id)
  }

  /** An agent that runs, or goes on from its log now. Rejects with `AGENT_NOT_FOUND`, `AGENT_STOPPED`, `BRIDGE_FORBIDDEN`. */
  agent(agentId: string): Promise<Agent> {
    return this.#bridge.agentFor(agentId, (id, path) => reaches(this.#grant, id, path))
  }
}

import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { RemoteAgentOf } from '../../../bridge/src/client/remoteAgentOf.ts'
import type { RemotePage } from '../../../bridge/src/client/remoteQueries.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { randomHex } from '../../../bridge/src/client/sessionId.ts'
import type { BirthOptions } from '../../../../src/runtime/children/spawnOptions.ts'
import { restateClient, type RestateClient, type RestateClientOptions } from './restateClient.ts'

/** Options of `spawn`. */
export interface EngineSpawnOptions extends BirthOptions {
  readonly id?: string
}

/**
 * Stands in for a runtime: agents are spawned and opened with the same calls, and work on whichever worker the engine
 * chooses. The workers decide on `deps`, and functions that need the agent's own process are not offered: see each method.
 */
export interface RestateRuntime {
  /** Client for further uses: sessions, and requests under ids of your own. */
  readonly client: RestateClient
  /**
   * Begins an agent.
   *
   * @throws RuntimeError `AGENT_EXISTS`, `INVALID_ID`, `INVALID_DEFINITION` (no worker has it), `ENGINE_UNREACHABLE`, `ENGINE_REFUSED`;
   * `ENGINE_UNSUPPORTED` with `incognito`, `deps` or `under`
   */
  spawn<D extends AgentDefinition>(definition: D, options?: EngineSpawnOptions): Promise<RemoteAgentOf<D>>
  /**
   * Opens the agent with this id; a new one begins with its first command.
   *
   * @throws RuntimeError as `spawn`, but for `AGENT_EXISTS`
   */
  open<D extends AgentDefinition>(id: string, definition: D, options?: BirthOptions): Promise<RemoteAgentOf<D>>
  /**
   * Returns the existing agent with this id. The engine has already continued it.
   *
   * @throws RuntimeError `AGENT_NOT_FOUND`; else as `open`
   */
  resume<D extends AgentDefinition>(id: string, definition: D): Promise<RemoteAgentOf<D>>
  /** Returns the agent with this id. A missing agent is reported by its first request. */
  agent<D extends AgentDefinition>(id: string): RemoteAgentOf<D>
  /** Lists the agents without a parent in the store. Reads the first record of every log. */
  agents(page?: RemotePage): Promise<readonly RemoteAgentOf<AgentDefinition>[]>
  /** @throws RuntimeError `ENGINE_UNSUPPORTED`, because the engine decides where an agent works. */
  detach(id: string): Promise<never>
  /** @throws RuntimeError `ENGINE_UNSUPPORTED`, because agents begin in workers: use `worker.runtime`. */
  onAgent(listener: (agent: never) => void): never
  /** @throws RuntimeError `ENGINE_UNSUPPORTED`: serve the agents from a worker (`worker.runtime.serve`), or through a gateway. */
  serve(): Promise<never>
  /** Closes the client; the agents continue. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Takes the place of `createRuntime` where an engine runs the agents. Needs the optional package `@restatedev/restate-sdk-clients`.
 *
 * @throws RuntimeError `PACKAGE_MISSING`, `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { postgresStore } from 'escapement/postgres'
 * import { restateRuntime } from 'escapement/restate'
 *
 * // In place of createRuntime({ store }):
 * const runtime = await restateRuntime({ ingress: 'http://localhost:8080', store: postgresStore('postgres://localhost/agents') })
 * const agent = await runtime.open('user-7', coder)
 * const { text } = await agent.prompt('My order is late.').result
 * await runtime.close()
 * ```
 */
export async function restateRuntime(options: RestateClientOptions): Promise<RestateRuntime> {
  const client = await restateClient(options)
  await client.ready
  return new EngineRuntime(client)
}

class EngineRuntime implements RestateRuntime {
  readonly client: RestateClient

  constructor(client: RestateClient) {
    this.client = client
  }

  async spawn<D extends AgentDefinition>(definition: D, options: EngineSpawnOptions = {}): Promise<RemoteAgentOf<D>> {
    const { id = `${definition.name}-${randomHex(6)}`, ...birth } = bornBy('spawn', options)
    return await this.client.begin(id, definition, birth)
  }

  async open<D extends AgentDefinition>(
    id: string,
    definition: D,
    options: BirthOptions = {},
  ): Promise<RemoteAgentOf<D>> {
    return await this.client.open(id, definition, bornBy('open', options))
  }

  async resume<D extends AgentDefinition>(id: string, definition: D): Promise<RemoteAgentOf<D>> {
    const agent = await this.client.open(id, definition)
    await agent.snapshot()
    return agent
  }

  agent<D extends AgentDefinition>(id: string): RemoteAgentOf<D> {
    return this.client.agent<D>(id)
  }

  async agents(page?: RemotePage): Promise<readonly RemoteAgentOf<AgentDefinition>[]> {
    const { agents } = await this.client.agents(page)
    return agents.map(({ agentId }) => this.client.agent<AgentDefinition>(agentId))
  }

  async detach(): Promise<never> {
    throw unsupported('detach', 'the engine decides where an agent works')
  }

  onAgent(): never {
    throw unsupported('onAgent', 'agents begin in workers')
  }

  async serve(): Promise<never> {
    throw unsupported('serve', 'agents are served where they work, or by a gateway')
  }

  async close(): Promise<void> {
    this.client.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const unsupported = (verb: string, why: string): RuntimeError =>
  new RuntimeError('ENGINE_UNSUPPORTED', `restateRuntime: ${verb}: ${why}.`)

/** @throws RuntimeError `ENGINE_UNSUPPORTED`: it does not go through an engine. */
function bornBy<O extends EngineSpawnOptions>(verb: string, options: O): O {
  const [other] = Object.entries(options).flatMap(([name, value]) =>
    value === undefined || value === false || ['id', 'metadata', 'history'].includes(name) ? [] : [name],
  )
  if (other === undefined) return options
  throw unsupported(verb, `"${other}" cannot leave this process`)
}

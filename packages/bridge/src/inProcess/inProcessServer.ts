import { z } from 'zod'
import { optionsCheck } from '../../../../src/protocol/checks/optionsCheck.ts'
import { isAgentDefinition, noDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Role } from '../../../wire/src/rights.ts'
import { roleSchema } from '../../../wire/src/rightsSchema.ts'
import { AgentAccess } from '../server/agentAccess.ts'
import type { BridgeRuntime } from '../server/agentDirectory.ts'
import { Bridge, type BridgeParts } from '../server/bridge.ts'
import { BridgeSession } from '../server/bridgeSession.ts'
import { startHeartbeat } from '../server/heartbeat.ts'
import { bridgeLimitsSchema, limitsOf, type BridgeLimits } from '../server/limits.ts'
import type { ServedDeps } from '../server/servedDeps.ts'
import { socketPair, type ClientSocket } from './socketPair.ts'

/** Options of a server for clients in this process. */
export interface InProcessOptions {
  /** Agents that clients may spawn, and that can be loaded from their logs. */
  readonly definitions?: readonly AgentDefinition[]
  /** Returns the dependencies of agents that clients spawn, or that are loaded from their logs for a client. Default: none. */
  readonly deps?: ServedDeps
  /** Role of the client. Default `admin`. */
  readonly role?: Role
  readonly limits?: Partial<BridgeLimits>
}

const checkOptions = optionsCheck(
  {},
  {
    definitions: () => z.array(z.custom<AgentDefinition>(isAgentDefinition, { error: noDefinition() })),
    deps: () => z.custom<ServedDeps>((value) => typeof value === 'function', 'give a function'),
    role: roleSchema,
    limits: bridgeLimitsSchema,
  },
)

/** A bridge for clients in this process: they connect to `url` by `webSocket`, and nothing listens on any port. */
export class InProcessServer {
  /** Address for `connect`; it cannot be reached from outside. */
  readonly url = 'ws://in-process/bridge'
  /** Class for the clients' sockets. Pass it to `connect`. */
  readonly webSocket: new (url: string, protocols: string[]) => ClientSocket
  /** Access of clients to resources outside the socket: charts and artifacts. */
  readonly access: AgentAccess
  readonly bridge: Bridge
  readonly #stopHeartbeat: () => void

  /** Creates the server. @throws RuntimeError `INVALID_OPTION` */
  constructor(
    runtime: BridgeRuntime,
    shared: Pick<BridgeParts, 'store' | 'clock' | 'redactor' | 'logger'>,
    options: InProcessOptions = {},
  ) {
    const wrong = checkOptions(options)
    if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `connect: ${wrong}.`)
    const { definitions = [], deps, role = 'admin', limits } = options
    this.bridge = new Bridge(runtime, {
      ...shared,
      limits: limitsOf(limits),
      tokens: undefined,
      role,
      definitions: new Map(definitions.map((definition) => [definition.name, definition])),
      deps,
    })
    this.access = new AgentAccess(this.bridge, { role })
    this.#stopHeartbeat = startHeartbeat(shared.clock, this.bridge)
    const dial = (): ClientSocket => this.#dial()
    this.webSocket = class {
      constructor() {
        // What a constructor returns is what `new` gives.
        return dial()
      }
    } as unknown as InProcessServer['webSocket']
  }

  /** Ends all connections. Data sent before still arrives. Agents keep running. Idempotent. */
  async close(): Promise<void> {
    if (this.bridge.isClosed) return
    this.#stopHeartbeat()
    for (const connection of this.bridge.connections) connection.leave()
    if (this.bridge.connections.size > 0) await new Promise<void>((resolve) => this.bridge.onEmpty(resolve))
    this.bridge.close()
  }

  #dial(): ClientSocket {
    const { client, server } = socketPair()
    if (this.bridge.isClosed) {
      server.close(closeCodes.goingAway, 'the server is closed')
      return client
    }
    const { authenticator } = this.bridge
    const session = new BridgeSession(server, this.bridge, {
      permit: (token) => authenticator.permitOf(token),
      token: undefined,
      logRefusal: (kind, why) => this.bridge.refusals.log(kind, why),
    })
    this.bridge.connections.add(session)
    server.on('close', () => this.bridge.disconnected(session))
    return client
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { Logger } from '../../protocol/logger.ts'
import { createdRecord } from '../../sessions/readHistory.ts'
import { memoryStore } from '../../stores/memoryStore.ts'
import type { BridgeRuntime } from '../bridge/agentDirectory.ts'
import type { Permit } from '../bridge/authenticator.ts'
import type { Command } from '../bridge/commandTable.ts'
import { ForwardedTokens, type Forwarded } from '../bridge/forwarded.ts'
import type { Front, FrontClient } from '../bridge/front.ts'
import { outwardError } from '../bridge/outwardError.ts'
import { RefusalLog } from '../bridge/refusalLog.ts'
import { serve } from '../bridge/serve.ts'
import type { BridgeServer } from '../bridge/serveOptions.ts'
import { AgentFinder } from './agentFinder.ts'
import { ClientRelay } from './clientRelay.ts'
import { checkGatewayOptions, type CheckedGateway, type GatewayOptions } from './gatewayOptions.ts'
import type { Store } from '../../protocol/store.ts'

/** What the clients of one gateway share. It keeps nothing that another gateway on the same directory would need. */
export class Gateway implements Front {
  readonly finder: AgentFinder
  readonly clock: Clock
  readonly #store: Store
  readonly #tokens: ForwardedTokens
  readonly #log: RefusalLog

  constructor({ whoHas, workers, place, secret, clock, logger }: CheckedGateway, store: Store) {
    this.clock = clock
    this.#store = store
    this.#tokens = new ForwardedTokens(secret)
    this.#log = new RefusalLog(logger, clock)
    const failed = (message: string): void => this.#log.log('directory', message)
    this.finder = new AgentFinder({ whoHas, workers, place, clock, failed })
  }

  async enter(client: FrontClient): Promise<ClientRelay> {
    const relay = new ClientRelay(this, client)
    await relay.begin()
    return relay
  }

  async answer(_request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeHead(501).end()
  }

  /** Who a client is, for workers. */
  tokenOf({ grant, owner }: Permit, session: Forwarded['session']): string {
    const { role, agents, metadata } = grant
    const ids = typeof agents === 'function' ? undefined : agents
    return this.#tokens.mint({
      grant: { role, ...(ids === undefined ? {} : { agents: ids }), ...(metadata === undefined ? {} : { metadata }) },
      owner,
      session,
    })
  }

  /** Where agents are chosen by a function, workers cannot know it: rejects with `AGENT_NOT_FOUND`. `undefined`: they see to it. */
  checkReach(agentId: string, { type }: Command, { access, permit }: FrontClient): Promise<void> | undefined {
    if (typeof permit.grant.agents !== 'function' || type === 'agent.spawn') return undefined
    return createdRecord(this.#store, agentId).then((created) =>
      access.check({ id: agentId, path: created?.path ?? [], metadata: created?.metadata }),
    )
  }

  outward(thrown: unknown): ErrorInfo {
    return outwardError(toErrorInfo(thrown, 'INTERNAL'))
  }

  /** A worker cannot be reached, for whatever reason. */
  lostWorker(url: string, why: string): void {
    this.finder.down.failed(url)
    this.#log.log('worker', `The worker at ${url} cannot be reached: ${why}.`)
  }

  close(): void {
    this.finder.close()
    this.#log.close()
  }
}

const noAgents = (): never => {
  throw new RuntimeError('AGENT_NOT_FOUND', 'A gateway runs no agents itself.')
}

/** A gateway has none. */
const nobody: BridgeRuntime = {
  agents: () => [],
  agent: () => undefined,
  spawn: async () => noAgents(),
  resume: async () => noAgents(),
  onAgent: () => () => {},
}

/** As `serveGateway` of the package. */
export async function serveGateway(options: GatewayOptions): Promise<BridgeServer> {
  const checked = checkGatewayOptions(options)
  const { clock, logger, serving, store = memoryStore() } = checked
  const gateway = new Gateway(checked, store)
  const shared = { store, clock, front: gateway, ...(logger === undefined ? {} : { logger: logger as Logger }) }
  const server = await serve(nobody, shared, { ...serving, advertise: false })
  const close = server.close.bind(server)
  return Object.assign(server, {
    close: async () => {
      gateway.close()
      await close()
    },
  })
}

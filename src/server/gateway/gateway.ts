import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { WorkerEntry } from '../../protocol/frames.ts'
import type { Clock } from '../../protocol/clock.ts'
import { rightsOf } from '../../protocol/rights.ts'
import { createdRecord } from '../../sessions/readHistory.ts'
import { memoryStore } from '../../stores/memoryStore.ts'
import type { BridgeRuntime } from '../bridge/agentDirectory.ts'
import type { Permit } from '../bridge/authenticator.ts'
import { ForwardedTokens, type Forwarded } from '../bridge/forwarded.ts'
import type { TextSocket } from '../bridge/textSocket.ts'
import type { Command, Front, FrontClient, FrontVisit } from '../bridge/front.ts'
import { limitsOf, type BridgeLimits } from '../bridge/limits.ts'
import { outwardError } from '../bridge/outwardError.ts'
import { outOfReach, reaches } from '../bridge/roles.ts'
import { bodyOf } from '../bridge/requestBody.ts'
import { RefusalLog } from '../bridge/refusalLog.ts'
import { serve } from '../bridge/serve.ts'
import type { BridgeServer } from '../bridge/serveOptions.ts'
import { AgentFinder } from './agentFinder.ts'
import { closeUnread, statusOf } from '../streams/httpRefusals.ts'
import { closeCodes } from '../../protocol/bridgeProtocol.ts'
import { ClientRelay } from './clientRelay.ts'
import { agentIn, forwardRequest } from './forwardRequest.ts'
import { workerEntries } from './workerNames.ts'
import { SocketRelay } from './socketRelay.ts'
import { checkGatewayOptions, type CheckedGateway, type GatewayOptions } from './gatewayOptions.ts'
import type { Store } from '../../protocol/store.ts'

/** What the clients of one gateway share. It keeps nothing that another gateway on the same directory would need. */
export class Gateway implements Front {
  readonly finder: AgentFinder
  readonly clock: Clock
  readonly limits: BridgeLimits
  readonly #store: Store
  readonly #tokens: ForwardedTokens
  readonly #log: RefusalLog

  constructor({ whoHas, workers, place, secret, clock, logger, serving }: CheckedGateway, store: Store) {
    this.clock = clock
    this.limits = limitsOf(serving.limits)
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

  async answer({ request, response, permit, target, rest, limits }: FrontVisit): Promise<void> {
    const lost = (url: string, why: string): void => this.lostWorker(url, why)
    try {
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
      const body = hasBody ? await bodyOf(request, limits.frameBytes) : undefined
      if (response.destroyed || (hasBody && body === undefined)) return
      const agentId = agentIn(rest, body)
      const tokenFor = this.tokensOf(permit, undefined)
      if (agentId !== undefined) await this.#checkReach(agentId, permit)
      const forwarding = { request, response, target, body, agentId, tokenFor }
      await forwardRequest({ finder: this.finder, clock: this.clock, lost }, forwarding)
    } catch (thrown) {
      if (response.headersSent || response.destroyed) return void response.destroy()
      closeUnread(request, response)
      const { code, message } = this.outward(thrown)
      response.writeHead(statusOf(code), {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      })
      response.end(JSON.stringify({ code, message }))
    }
  }

  connect(socket: TextSocket, permit: Permit, path: string): void {
    if (typeof permit.grant.agents === 'function')
      return socket.close(closeCodes.unauthorised, 'agents chosen by a function are reached over the bridge')
    const { highWaterBytes, waitingCommands } = this.limits
    void new SocketRelay(socket, {
      finder: this.finder,
      path,
      tokenFor: this.tokensOf(permit, undefined),
      highWaterBytes,
      waiting: waitingCommands,
      lost: (url, why) => this.lostWorker(url, why),
    })
  }

  /** Says who a client is, to each worker in words for it alone. */
  tokensOf({ grant, owner }: Permit, session: Forwarded['session']): (url: string) => string {
    const { agents, metadata } = grant
    const ids = typeof agents === 'function' ? undefined : agents
    const client: Forwarded = {
      grant: {
        may: [...rightsOf(grant)],
        ...(ids === undefined ? {} : { agents: ids }),
        ...(metadata === undefined ? {} : { metadata }),
      },
      owner,
      session,
    }
    return (url) => this.#tokens.mint(client, url)
  }

  /** Where agents are chosen by a function, workers cannot know it: rejects with `AGENT_NOT_FOUND`. `undefined`: they see to it. */
  checkReach(agentId: string, { type }: Command, { permit }: FrontClient): Promise<void> | undefined {
    return type === 'agent.spawn' ? undefined : this.#checkReach(agentId, permit)
  }

  #checkReach(agentId: string, { grant }: Permit): Promise<void> | undefined {
    if (typeof grant.agents !== 'function') return undefined
    return createdRecord(this.#store, agentId).then((created) => {
      const agent = { id: agentId, path: created?.path ?? [], metadata: created?.metadata }
      if (!reaches(grant, agent)) throw outOfReach(grant, agentId)
    })
  }

  outward(thrown: unknown): ErrorInfo {
    return outwardError(toErrorInfo(thrown, 'INTERNAL'))
  }

  entriesOf(urls: readonly string[]): Promise<readonly WorkerEntry[]> {
    return workerEntries(urls, this.#store)
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
  const shared = { store, clock, front: gateway, ...(logger === undefined ? {} : { logger }) }
  const server = await serve(nobody, shared, { ...serving, advertise: false })
  const close = server.close.bind(server)
  return Object.assign(server, {
    close: async () => {
      gateway.close()
      await close()
    },
  })
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { WorkerEntry } from '../../../wire/src/frames.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import { rightsOf } from '../../../wire/src/rights.ts'
import { createdRecord } from '../../../../src/log/readHistory.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { BridgeRuntime } from '../../../bridge/src/server/agentDirectory.ts'
import type { Permit } from '../../../bridge/src/server/authenticator.ts'
import { ForwardedTokens, type Forwarded } from '../../../bridge/src/server/forwarded.ts'
import type { TextSocket } from '../../../bridge/src/server/textSocket.ts'
import type { Command, Front, FrontClient, FrontVisit } from '../../../bridge/src/server/front.ts'
import { limitsOf, type BridgeLimits } from '../../../bridge/src/server/limits.ts'
import { outwardError } from '../../../bridge/src/server/outwardError.ts'
import { newOutOfReach, outOfReach, reaches, type Grant } from '../../../bridge/src/server/roles.ts'
import { forkIdOf } from '../../../bridge/src/server/forkAgent.ts'
import { bodyOf } from '../../../bridge/src/server/requestBody.ts'
import { RefusalLog } from '../../../bridge/src/server/refusalLog.ts'
import { serve } from '../../../bridge/src/server/serve.ts'
import type { BridgeServer } from '../../../bridge/src/server/serveOptions.ts'
import type { GatewayFigures } from '../../../otel/src/metrics/figures.ts'
import { AgentFinder } from './agentFinder.ts'
import { Beginnings } from './beginnings.ts'
import { closeUnread, statusOf } from '../../../bridge/src/streams/httpRefusals.ts'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { ClientRelay } from './clientRelay.ts'
import { forwardRequest, namedIn, sessionHeader } from './forwardRequest.ts'
import { workerEntries } from './workerNames.ts'
import { SocketRelay } from './socketRelay.ts'
import { checkGatewayOptions, type CheckedGateway, type GatewayOptions } from './gatewayOptions.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** State that a gateway's clients share. It holds nothing that another gateway on the same directory would need. */
export class Gateway implements Front {
  readonly finder: AgentFinder
  readonly clock: Clock
  readonly limits: BridgeLimits
  readonly #store: Store
  readonly #tokens: ForwardedTokens
  readonly refusals: RefusalLog
  readonly #beginnings: Beginnings
  readonly #relays = new Set<ClientRelay>()

  constructor({ whoHas, workers, place, secret, clock, logger, serving }: CheckedGateway, store: Store) {
    this.clock = clock
    this.limits = limitsOf(serving.limits)
    this.#store = store
    this.#tokens = new ForwardedTokens(secret)
    this.refusals = new RefusalLog(logger, clock)
    this.#beginnings = new Beginnings(clock)
    const failed = (message: string): void => this.refusals.log('directory', message)
    this.finder = new AgentFinder({ whoHas, workers, place, clock, failed })
  }

  /** Number of commands that no worker has answered yet. */
  get commands(): number {
    return [...this.#relays].reduce((sum, { waiting }) => sum + waiting, 0)
  }

  async enter(client: FrontClient): Promise<ClientRelay> {
    const relay = new ClientRelay(this, client)
    this.#relays.add(relay)
    await relay.begin()
    return relay
  }

  async answer({ request, response, permit, target, rest, limits }: FrontVisit): Promise<void> {
    const lost = (url: string, why: string): void => this.lostWorker(url, why)
    let begun = (): void => {}
    try {
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
      const body = hasBody ? await bodyOf(request, limits.frameBytes) : undefined
      if (response.destroyed || (hasBody && body === undefined)) return
      const { agentId, session, isStop } = namedIn(request.method, rest, body)
      const asked = agentId === undefined ? undefined : { agentId, who: permit.owner }
      const before = isStop && asked !== undefined ? this.#beginnings.before(asked, goneWith(response)) : undefined
      if (asked !== undefined) begun = this.#beginnings.enter(asked)
      const named = agentId ?? session
      if (named !== undefined) await this.#checkReach(named, permit)
      mayContinue(request, permit)
      const tokenFor = this.tokensOf(permit, undefined, named === undefined ? [] : [named])
      await before
      const forwarding = { request, response, target, body, agentId, tokenFor, begun }
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
    } finally {
      begun()
    }
  }

  connect(socket: TextSocket, permit: Permit, path: string): void {
    if (typeof permit.grant.agents === 'function')
      return socket.close(closeCodes.unauthorised, 'agents chosen by a function are reached over the bridge')
    const { highWaterBytes, waitingCommands } = this.limits
    void new SocketRelay(socket, {
      finder: this.finder,
      beginnings: this.#beginnings,
      who: permit.owner,
      path,
      tokenFor: this.tokensOf(permit, undefined, []),
      highWaterBytes,
      waiting: waitingCommands,
      lost: (url, why) => this.lostWorker(url, why),
    })
  }

  /**
   * Returns tokens that identify a client, each valid for one worker. Workers cannot call a function that decides which agents are within
   * reach, so the token names the agents found to be (`reached`), and no others. `checked`: the gateway checks each command itself.
   */
  tokensOf(
    { grant, owner }: Permit,
    session: Forwarded['session'],
    reached: readonly string[] | 'checked',
  ): (url: string) => string {
    const { agents, metadata } = grant
    const ids = typeof agents !== 'function' ? agents : reached === 'checked' ? undefined : reached
    const isNamed = owner !== undefined && !isAnyone(grant)
    const client: Forwarded = {
      grant: {
        may: [...rightsOf(grant)],
        ...(ids === undefined ? {} : { agents: ids }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(isNamed ? { owner } : {}),
      },
      owner,
      session,
    }
    return (url) => this.#tokens.mint(client, url)
  }

  /**
   * Checks the reach of a grant whose agents are chosen by a function, which workers cannot call. Rejects
   * with `AGENT_NOT_FOUND`, or for a new agent with `BRIDGE_FORBIDDEN`. `undefined`: workers check it.
   */
  checkReach(agentId: string, command: Command, { permit, session }: FrontClient): Promise<void> | undefined {
    const { grant } = permit
    if (typeof grant.agents !== 'function') return undefined
    const begins = async (agent: { readonly id: string; readonly metadata: Metadata | undefined }): Promise<void> => {
      const metadata = { ...agent.metadata, ...grant.metadata }
      if (!reaches(grant, { id: agent.id, path: [], metadata })) throw newOutOfReach()
    }
    if ('hostId' in command)
      return reaches(grant, { id: agentId, path: [], metadata: undefined })
        ? undefined
        : Promise.reject(newOutOfReach())
    if (command.type === 'agent.spawn')
      return begins({ id: agentId, metadata: command.metadata }).then(async () => {
        const taken = await createdRecord(this.#store, agentId)
        // A worker would tell that it exists.
        if (taken !== undefined && !reaches(grant, { ...taken, id: agentId, metadata: taken.metadata }))
          throw newOutOfReach()
      })
    const reached = this.#checkReach(agentId, permit)!
    if (command.type !== 'agent.fork') return reached.then(() => {})
    return reached.then(async (created) => {
      const { definition = '', metadata } = created ?? {}
      await begins({ id: forkIdOf(definition, `${session.id}/${command.id}`), metadata })
    })
  }

  /** Resolves with the first record of an agent within reach, which is missing if there is none. */
  #checkReach(agentId: string, { grant }: Permit): Promise<RecordOf<'agent.created'> | undefined> | undefined {
    if (typeof grant.agents !== 'function') return undefined
    return createdRecord(this.#store, agentId).then((created) => {
      // One that begins now gets what the client's agents have.
      const metadata = created === undefined ? grant.metadata : created.metadata
      if (!reaches(grant, { id: agentId, path: created?.path ?? [], metadata })) throw outOfReach(grant, agentId)
      return created
    })
  }

  outward(thrown: unknown): ErrorInfo {
    const error = toErrorInfo(thrown, 'INTERNAL')
    if (error.code === 'AGENT_UNREACHABLE') this.refusals.log('agent', error.message)
    return outwardError(error)
  }

  entriesOf(urls: readonly string[]): Promise<readonly WorkerEntry[]> {
    return workerEntries(urls, this.#store)
  }

  /** Called when a client has left. */
  left(relay: ClientRelay): void {
    this.#relays.delete(relay)
  }

  /** Called when a worker cannot be reached, for any reason. */
  lostWorker(url: string, why: string): void {
    this.finder.down.failed(url)
    this.refusals.log('worker', `The worker at ${url} cannot be reached: ${why}.`)
  }

  close(): void {
    this.finder.close()
    this.refusals.close()
  }
}

/** Returns a signal that is aborted once a client has left. */
function goneWith(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

/** Returns true if clients with this grant cannot be told apart. */
const isAnyone = ({ agents, owner }: Grant): boolean => typeof agents === 'function' && owner === undefined

/** Checks that a client may continue an MCP connection, which spans many requests. @throws RuntimeError `BRIDGE_FORBIDDEN` if its owner is unknown */
function mayContinue({ headers }: IncomingMessage, { grant }: Permit): void {
  if (headers[sessionHeader] === undefined || !isAnyone(grant)) return
  const what = 'A session of MCP is somebody\'s: the function "authenticate" of this server must say whose, as "owner".'
  throw new RuntimeError('BRIDGE_FORBIDDEN', what)
}

const noAgents = (): never => {
  throw new RuntimeError('AGENT_NOT_FOUND', 'A gateway runs no agents itself.')
}

/** Runtime of a gateway, which has no agents. */
const nobody: BridgeRuntime = {
  agents: () => [],
  agent: () => undefined,
  spawn: async () => noAgents(),
  resume: async () => noAgents(),
  onAgent: () => () => {},
}

/** A running gateway. */
export interface GatewayServer extends BridgeServer {
  /** Current figures, for `observeGateway` of `otelMetrics`. */
  figures(): GatewayFigures
}

/** Implements `serveGateway` of the package. */
export async function serveGateway(options: GatewayOptions): Promise<GatewayServer> {
  const checked = checkGatewayOptions(options)
  const { clock, logger, serving, store = memoryStore() } = checked
  const gateway = new Gateway(checked, store)
  const shared = { store, clock, front: gateway, ...(logger === undefined ? {} : { logger }) }
  const server = await serve(nobody, shared, { ...serving, advertise: false })
  const close = server.close.bind(server)
  return Object.assign(server, {
    figures: () => ({
      clients: server.connections,
      looks: gateway.finder.looks,
      refusals: gateway.refusals.counts,
      commands: gateway.commands,
    }),
    close: async () => {
      gateway.close()
      await close()
    },
  })
}

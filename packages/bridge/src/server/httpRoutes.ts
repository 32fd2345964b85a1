import { callbackBugs, isLikelyBug } from '../../../../src/protocol/callbackBugs.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerArtifact, isArtifactPath } from './artifacts/answerArtifact.ts'
import { AgentCharts, isChartPath } from './agentCharts.ts'
import { answerNewest, isNewestPath } from './newestRecords.ts'
import type { Bridge } from './bridge.ts'
import {
  addressOf,
  serverClosing,
  serverFull,
  pathOf,
  badToken,
  undecided,
  type Admission,
  type Refusal,
} from './admission.ts'
import { isStillPermitted, type Permit } from './authenticator.ts'
import type { OpenResponse } from './endpoint.ts'
import { outwardMessage } from './outwardError.ts'
import { belowBase, healthPath } from './places.ts'
import type { Paths } from './upgrades.ts'
import { answerText, guardAnswer, type ServedPage } from '../page/servePage.ts'
import { AgentAccess } from './agentAccess.ts'
import { endInPieces } from './endInPieces.ts'
import type { Connection } from './connections.ts'

const corsMethods = 'GET, POST, DELETE, OPTIONS'
const corsHeaders = ['authorization', 'content-type', 'accept']

/** The routes of plain HTTP requests: `/healthz`, the inspector page, charts of agents, artifacts, and the paths of endpoints. */
export class HttpRoutes {
  readonly #bridge: Bridge
  readonly #admission: Admission
  readonly #paths: Paths
  readonly #page: ServedPage | undefined
  readonly #charts = new AgentCharts()

  constructor(bridge: Bridge, admission: Admission, paths: Paths, page: ServedPage | undefined) {
    this.#bridge = bridge
    this.#admission = admission
    this.#paths = paths
    this.#page = page
  }

  /** Answers a request. Returns `false` if its path is not served here. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = pathOf(request)
    const own = belowBase(this.#paths.base, path)
    if (own === healthPath || path === this.#paths.bridge) {
      const refusal = this.#admission.refuseHost(request)
      if (refusal !== undefined) this.#refuse(request, response, refusal)
      else if (path === this.#paths.bridge) needSocket(response)
      else answerText(response, 200, 'ok')
      return true
    }
    const answering = this.#answer(request, response, path, own)
    answering?.catch((thrown: unknown) => {
      if (isLikelyBug(thrown)) callbackBugs.tell('An answer over HTTP', thrown)
      if (response.headersSent) response.destroy()
      else answerText(response, 500, outwardMessage(thrown))
    })
    return answering !== undefined
  }

  /** Answers a request of an admitted client. `own` is the path below the base, if it is below it. */
  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    own: string | undefined,
  ): Promise<void> | undefined {
    const endpoint = this.#paths.endpoints.at(path)
    if (endpoint !== undefined)
      return this.#authorize(
        request,
        response,
        async (access, count, permit) => {
          if (endpoint.answer === undefined) return needSocket(response)
          if (this.#bridge.front !== undefined) {
            count()
            return this.#forward(request, response, permit, { isOwn: false, rest: path.slice(endpoint.path.length) })
          }
          await endpoint.answer(request, response, access, count())
        },
        endpoint.headers,
      )
    if (own === undefined) return this.#redirect(request, response, path)
    if (isChartPath(own) || isNewestPath(own)) {
      return this.#authorize(request, response, (access, count, permit) => {
        count()
        const bridge = this.#bridge
        if (bridge.front !== undefined)
          return this.#forward(request, response, permit, { isOwn: true, rest: own.slice('/agents'.length) })
        if (isNewestPath(own)) return answerNewest(request, response, { bridge, access }, own)
        return this.#charts.answer(request, response, access, own)
      })
    }
    if (isArtifactPath(own)) {
      return this.#authorize(request, response, (access, count) => {
        count()
        return answerArtifact(request, response, access, own)
      })
    }
    if (this.#page?.knows(own) !== true) return undefined
    const refusal = this.#admission.refuseHost(request)
    if (refusal === undefined) return this.#page.answer(request, response, own)
    this.#refuse(request, response, refusal)
    return Promise.resolve()
  }

  /** Redirects to the page if its last slash is missing, because the page's links are relative. */
  #redirect(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> | undefined {
    const { base } = this.#paths
    if (this.#page === undefined || `${path}/` !== base) return undefined
    const refusal = this.#admission.refuseHost(request)
    if (refusal === undefined) {
      // Relative, so that it holds below whatever a proxy has added.
      guardAnswer(response).writeHead(308, {
        location: `./${path.slice(path.lastIndexOf('/') + 1)}/`,
        'cache-control': 'no-store',
      })
      response.end()
    } else this.#refuse(request, response, refusal)
    return Promise.resolve()
  }

  async #authorize(
    request: IncomingMessage,
    response: ServerResponse,
    answer: (access: AgentAccess, count: () => ResponseConnection, permit: Permit) => Promise<void>,
    headers: readonly string[] = [],
  ): Promise<void> {
    // The client may have left while the application looked at its request.
    if (response.destroyed) return
    guardAnswer(response)
    const refusal = this.#bridge.isClosed ? serverClosing : this.#admission.refuse(request)
    if (refusal !== undefined) return this.#refuse(request, response, refusal)
    const { origin } = request.headers
    if (origin !== undefined) response.setHeader('access-control-allow-origin', origin).setHeader('vary', 'origin')
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-methods', corsMethods)
      response.setHeader('access-control-allow-headers', [...corsHeaders, ...headers].join(', '))
      response.writeHead(204).end()
      return
    }
    const permit = await Promise.resolve(this.#admission.permit(request)).catch(() => undecided)
    if (response.destroyed) return
    // By now it may be closing.
    if (this.#bridge.isClosed) return this.#refuse(request, response, serverClosing)
    if (permit === undefined) return this.#refuse(request, response, badToken)
    if ('why' in permit) return this.#refuse(request, response, permit)
    const address = addressOf(request)
    if (!this.#bridge.hasRoom(permit, address) || !this.#bridge.room.mayAsk(permit, address))
      return this.#refuse(request, response, serverFull)
    const count = (): ResponseConnection => {
      const connection = this.#count(response, () => isStillPermitted(permit))
      this.#bridge.room.take(connection, permit, address)
      return connection
    }
    await answer(new AgentAccess(this.#bridge, permit.grant, { who: permit.owner, permit }), count, permit)
  }

  /** Forwards a request to a worker. */
  #forward(
    request: IncomingMessage,
    response: ServerResponse,
    permit: Permit,
    { isOwn, rest }: { readonly isOwn: boolean; readonly rest: string },
  ): Promise<void> {
    const { front, limits } = this.#bridge
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    const target = { isOwn, path: `${isOwn ? (belowBase(this.#paths.base, pathname) ?? '') : pathname}${search}` }
    return front!.answer({ request, response, permit, target, rest, limits })
  }

  /** Counts an open response as a connection. */
  #count(response: ServerResponse, isGranted: () => boolean): ResponseConnection {
    const { hardLimitBytes } = this.#bridge.limits
    endInPieces(response)
    const connection = new ResponseConnection(response, { hardLimitBytes, isGranted })
    this.#bridge.connections.add(connection)
    response.on('close', () => this.#bridge.disconnected(connection))
    return connection
  }

  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    this.#admission.logRefusal(request, refusal)
    if (refusal === badToken) response.setHeader('www-authenticate', 'Bearer')
    answerText(response, Number.parseInt(refusal.status), refusal.why)
  }
}

/** Answers that the path takes WebSockets only. */
function needSocket(response: ServerResponse): void {
  response.setHeader('upgrade', 'websocket')
  answerText(response, 426, 'open a WebSocket here')
}

/** Number of pings in a row after which a client that reads none of the waiting data is cut off. */
const maxSilent = 2

/** An open HTTP response: it counts as a connection, and a client that does not read it is cut off. */
class ResponseConnection implements Connection, OpenResponse {
  readonly #response: ServerResponse
  readonly #hardLimitBytes: number
  readonly #isGranted: () => boolean
  #onLeave: () => void = () => {}
  /** Number of bytes sent at the last ping. */
  #left = -1
  #silent = 0

  /** Takes `isGranted`, which returns true while the request's token still grants the same rights. */
  constructor(
    response: ServerResponse,
    { hardLimitBytes, isGranted }: { readonly hardLimitBytes: number; readonly isGranted: () => boolean },
  ) {
    this.#response = response
    this.#hardLimitBytes = hardLimitBytes
    this.#isGranted = isGranted
  }

  onLeave(listener: () => void): void {
    this.#onLeave = listener
  }

  /** Does nothing, because a response receives no frames. */
  tick(): void {}

  ping(): void {
    const { socket, writableLength, writableNeedDrain, writableEnded } = this.#response
    if (socket === null) return
    if (!this.#isGranted()) return this.terminate()
    const left = socket.bytesWritten - socket.writableLength
    // The last piece of one that has ended waits for no drain.
    const waits = writableNeedDrain || (writableEnded && writableLength > 0)
    this.#silent = waits && left === this.#left ? this.#silent + 1 : 0
    this.#left = left
    if (this.#silent >= (writableLength > this.#hardLimitBytes ? 1 : maxSilent)) this.terminate()
  }

  leave(): void {
    this.#onLeave()
  }

  terminate(): void {
    this.#response.destroy()
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../../protocol/errors.ts'
import { AgentCharts, isChartPath } from './agentCharts.ts'
import { AnswerConnection } from './answerConnection.ts'
import type { Bridge } from './bridge.ts'
import { pathOf, type Door, type Refusal } from './door.ts'
import type { Endpoint } from './endpoint.ts'
import { bridgePath, healthPath } from './serveOptions.ts'
import type { ServedPage } from '../inspector/servePage.ts'
import { Visit } from './visit.ts'

const corsMethods = 'GET, POST, OPTIONS'
const corsHeaders = 'authorization, content-type, accept'

/** Answers plain HTTP requests: `/healthz`, the inspector page, charts of agents, and the paths of endpoints. */
export class Requests {
  readonly #bridge: Bridge
  readonly #door: Door
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  readonly #page: ServedPage | undefined
  readonly #charts = new AgentCharts()

  constructor(bridge: Bridge, door: Door, endpoints: ReadonlyMap<string, Endpoint>, page: ServedPage | undefined) {
    this.#bridge = bridge
    this.#door = door
    this.#endpoints = endpoints
    this.#page = page
  }

  /** Answers a request; `false`: its path is none of those here. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const path = pathOf(request)
    if (path === healthPath) {
      answerText(response, 200, 'ok')
      return true
    }
    if (path === bridgePath) {
      needSocket(response)
      return true
    }
    const answering = this.#answer(request, response, path)
    answering?.catch((thrown: unknown) => {
      if (response.headersSent) response.destroy()
      else answerText(response, 500, messageOf(thrown))
    })
    return answering !== undefined
  }

  #answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> | undefined {
    const endpoint = this.#endpoints.get(path)
    if (endpoint !== undefined)
      return this.#letIn(request, response, (visit) => this.#answerAt(endpoint, request, response, visit))
    if (isChartPath(path)) {
      return this.#letIn(request, response, (visit) => {
        this.#count(response, visit)
        return this.#charts.answer(request, response, visit)
      })
    }
    return this.#page?.knows(path) === true ? this.#page.answer(request, response, path) : undefined
  }

  async #letIn(
    request: IncomingMessage,
    response: ServerResponse,
    answer: (visit: Visit) => Promise<void>,
  ): Promise<void> {
    // It may have gone while the application looked at its request.
    if (response.destroyed) return
    const refusal = this.#bridge.isClosed ? '503 Service Unavailable' : this.#door.refuse(request)
    if (refusal !== undefined) return refuse(response, refusal)
    const { origin } = request.headers
    if (origin !== undefined) response.setHeader('access-control-allow-origin', origin).setHeader('vary', 'origin')
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-methods', corsMethods)
      response.setHeader('access-control-allow-headers', corsHeaders)
      response.writeHead(204).end()
      return
    }
    const grant = this.#door.grantOf(request)
    if (grant === undefined) return refuse(response, '401 Unauthorized')
    await answer(new Visit(this.#bridge, grant))
  }

  async #answerAt(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<void> {
    if (endpoint.answer === undefined) return needSocket(response)
    await endpoint.answer(request, response, visit, this.#count(response, visit))
  }

  /** An answer is a connection until it is over. */
  #count(response: ServerResponse, { limits }: Visit): AnswerConnection {
    const connection = new AnswerConnection(response, limits)
    this.#bridge.connections.add(connection)
    response.on('close', () => this.#bridge.left(connection))
    return connection
  }
}

/** The path is for WebSockets alone. */
function needSocket(response: ServerResponse): void {
  response.setHeader('upgrade', 'websocket')
  answerText(response, 426, 'open a WebSocket here')
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const [status] = refusal.split(' ', 1)
  if (refusal === '401 Unauthorized') response.setHeader('www-authenticate', 'Bearer')
  answerText(response, Number(status), refusal)
}

/** Answers with a line of text. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${text}\n`)
}

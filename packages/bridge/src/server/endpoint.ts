import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentAccess } from './agentAccess.ts'
import type { TextSocket } from './textSocket.ts'

/**
 * Another protocol served at its own path. Its clients have passed the server's checks (token, origin, number of connections). Pass it
 * to `serve` in `endpoints`.
 */
export interface Endpoint {
  /** Path of the endpoint, such as `/acp`. */
  readonly path: string
  /** Set if the endpoint also answers at every path below, unless another endpoint has that path. */
  readonly below?: true
  /** Headers that pages of other origins may send, besides `authorization`, `content-type` and `accept`. */
  readonly headers?: readonly string[]
  /** Called with the names of the definitions given to `serve`, before it listens. If it throws, `serve` rejects with that error. */
  check?(definitions: readonly string[]): void
  /**
   * Answers an HTTP request at the path. If it throws, the answer has status 500. The answer counts as a connection
   * until it is over. A client that reads none of the waiting bytes between three pings is cut off. Data given to `end`
   * is written in pieces. Pass large data to `end`, or to `write` in pieces of your own. Default: status 426.
   */
  answer?(
    request: IncomingMessage,
    response: ServerResponse,
    access: AgentAccess,
    answering: OpenResponse,
  ): void | Promise<void>
  /** Serves a WebSocket opened at the path. If it throws, the socket is closed with 1011. Default: the socket is refused. */
  connect?(socket: TextSocket, access: AgentAccess): void
}

/** A response that stays open. */
export interface OpenResponse {
  /** Calls `listener` when the server shuts down: the response should end soon. Only the last listener is called. */
  onLeave(listener: () => void): void
}

/** Endpoints by path. */
export class Endpoints {
  readonly #byPath: ReadonlyMap<string, Endpoint>
  readonly #below: readonly Endpoint[]

  constructor(endpoints: readonly Endpoint[]) {
    this.#byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]))
    // Of two that fit, the one with the longer path is meant.
    this.#below = endpoints.filter(({ below }) => below).toSorted((a, b) => b.path.length - a.path.length)
  }

  /** Returns the endpoint that answers at a path. */
  at(path: string): Endpoint | undefined {
    return this.#byPath.get(path) ?? this.#below.find((endpoint) => path.startsWith(`${endpoint.path}/`))
  }
}

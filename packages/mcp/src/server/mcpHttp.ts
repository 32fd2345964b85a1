import type { AuthInfo, CreateMcpHandlerOptions, McpHttpHandler, ServerEvent } from '@modelcontextprotocol/server'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { agentServer } from './agentServer.ts'
import type { ServerParts, Visit } from './serverParts.ts'
import { LegacySessions } from './legacySessions.ts'
import { listenIn, listenMethod, refusal } from './listening.ts'
import { WatchedStates } from './stateResources.ts'

/** Serves MCP over HTTP, for both eras at the same address. */
export class McpHttp {
  readonly #parts: ServerParts
  readonly #modern: McpHttpHandler
  readonly #legacy: LegacySessions
  /** Handlers for clients that are notified of changes, one for each, so that a client hears only of its own states. */
  readonly #listening = new Set<McpHttpHandler>()

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.#modern = this.#handler()
    this.#legacy = new LegacySessions(parts, ({ http }) => visitIn(http?.authInfo))
  }

  /** Answers a request of an admitted client. `body`: its JSON, if it was already read. */
  async answer(request: Request, visit: Visit, body?: unknown): Promise<Response> {
    const how = { authInfo: carrying(visit), ...(body === undefined ? {} : { parsedBody: body }) }
    const isLegacy = await this.#parts.sdk.isLegacyRequest(request, body)
    if (isLegacy) return this.#legacy.answer(request, visit.access, how)
    const isListen = request.headers.get('mcp-method') === listenMethod
    const message: unknown =
      isListen && body === undefined
        ? await request
            .clone()
            .json()
            .catch(() => null)
        : body
    const listen = listenIn(message)
    return listen === undefined ? this.#modern.fetch(request, how) : this.#listen(request, visit, how, listen)
  }

  async close(): Promise<void> {
    const open = [this.#modern, ...this.#listening]
    this.#listening.clear()
    await Promise.all([...open.map((handler) => handler.close()), this.#legacy.close()])
  }

  #handler(options: CreateMcpHandlerOptions = {}): McpHttpHandler {
    const parts = this.#parts
    return parts.sdk.createMcpHandler(
      () => agentServer(parts, { era: 'modern', visitOf: ({ http }) => visitIn(http?.authInfo) }),
      { legacy: 'reject', maxRequestBodySize: anySize, ...options },
    )
  }

  /** Notifies a client of changes of the states that it names, as long as it reads the answer. */
  async #listen(
    request: Request,
    { access }: Visit,
    how: { authInfo: AuthInfo; parsedBody?: unknown },
    { id, uris }: NonNullable<ReturnType<typeof listenIn>>,
  ): Promise<Response> {
    let tell: ((event: ServerEvent) => void) | undefined
    const states = new WatchedStates(this.#parts.tools, (uri) => tell?.({ kind: 'resource_updated', uri }))
    try {
      if (this.#listening.size >= access.limits.connections)
        throw new RuntimeError(
          'BRIDGE_LIMIT',
          `${this.#listening.size} clients are told of changes, which is the most.`,
        )
      for (const uri of uris) await states.add(access, uri)
    } catch (thrown) {
      states.close()
      return Response.json(refusal(id, access, thrown))
    }
    const end = (): void => {
      states.close()
      this.#listening.delete(handler)
    }
    const subscribe = (listener: (event: ServerEvent) => void): (() => void) => {
      tell = listener
      return end
    }
    const handler = this.#handler({ bus: { publish: () => {}, subscribe }, keepAliveMs: access.limits.pingMs })
    this.#listening.add(handler)
    const response = await handler.fetch(request, how)
    if (tell === undefined) end()
    return response
  }
}

/** Limit for the SDK on the size of a body: none, since the server has checked it before. */
const anySize = Number.MAX_SAFE_INTEGER

/** Wraps a visit as the auth info of a request. The SDK passes it unread to the server that answers the request. */
const carrying = (visit: Visit): AuthInfo => ({ token: '', clientId: 'escapement', scopes: [], extra: { visit } })

const visitIn = (authInfo: AuthInfo | undefined): Visit => authInfo!.extra!['visit'] as Visit

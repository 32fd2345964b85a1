import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server'
import { agentServer, type ServerParts, type Visit } from './agentServer.ts'
import { LegacySessions } from './legacySessions.ts'

/** MCP over HTTP, of both eras at the same address. */
export class McpHttp {
  readonly #parts: ServerParts
  readonly #modern: McpHttpHandler
  readonly #legacy: LegacySessions

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.#modern = parts.sdk.createMcpHandler(
      () => agentServer(parts, { era: 'modern', visitOf: ({ http }) => visitIn(http?.authInfo) }),
      { legacy: 'reject', maxRequestBodySize: anySize },
    )
    this.#legacy = new LegacySessions(parts, ({ http }) => visitIn(http?.authInfo))
  }

  /** Answers a request of a client that was let in; `body`: its JSON, if it was read already. */
  async answer(request: Request, visit: Visit, body?: unknown): Promise<Response> {
    const how = { authInfo: carrying(visit), ...(body === undefined ? {} : { parsedBody: body }) }
    const isLegacy = await this.#parts.sdk.isLegacyRequest(request, body)
    return isLegacy ? this.#legacy.answer(request, visit.access, how) : this.#modern.fetch(request, how)
  }

  async close(): Promise<void> {
    await Promise.all([this.#modern.close(), this.#legacy.close()])
  }
}

/** Limit for the SDK on the size of a body: none, since the server has checked it before. */
const anySize = Number.MAX_SAFE_INTEGER

/** Wraps a visit as the auth info of a request. The SDK passes it unread to the server that answers the request. */
const carrying = (visit: Visit): AuthInfo => ({ token: '', clientId: 'escapement', scopes: [], extra: { visit } })

const visitIn = (authInfo: AuthInfo | undefined): Visit => authInfo!.extra!['visit'] as Visit

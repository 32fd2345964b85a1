import { randomUUID } from 'node:crypto'
import type { AuthInfo, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import { agentServer } from './agentServer.ts'
import type { ServerParts, ServerUse } from './serverParts.ts'

/** Connection of a client with a protocol version before 2026-07-28, over many requests. */
interface LegacySession {
  readonly access: AgentAccess
  readonly transport: WebStandardStreamableHTTPServerTransport
  lastUsed: number
  calls: number
}

/**
 * Connections of older clients. They are in memory only: after a restart a client connects anew, and the sessions of its agents are
 * unchanged. A connection that was not used for `limits.sessionMs` is closed, and above `limits.connections` the one used longest ago.
 */
export class LegacySessions {
  readonly #parts: ServerParts
  readonly #visitOf: ServerUse['visitOf']
  readonly #sessions = new Map<string, LegacySession>()

  constructor(parts: ServerParts, visitOf: ServerUse['visitOf']) {
    this.#parts = parts
    this.#visitOf = visitOf
  }

  async answer(
    request: Request,
    access: AgentAccess,
    how: { authInfo: AuthInfo; parsedBody?: unknown },
  ): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return await (await this.#open(access)).transport.handleRequest(request, how)
    const session = this.#sessions.get(id)
    // To a client that may do something else it is not there.
    if (session?.access.isLike(access) !== true) return notFound()
    session.lastUsed = access.clock.now()
    return await session.transport.handleRequest(request, how)
  }

  async close(): Promise<void> {
    const open = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(open.map(({ transport }) => transport.close()))
  }

  async #open(access: AgentAccess): Promise<LegacySession> {
    const { sdk } = this.#parts
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      // Only now it has its id; a request that is no `initialize` gets none, and is refused.
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session)
        this.#makeRoom(access)
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
      maxRequestBodySize: access.limits.frameBytes,
      keepAliveMs: access.limits.pingMs,
    })
    const session: LegacySession = { access, transport, lastUsed: access.clock.now(), calls: 0 }
    const busy = (change: 1 | -1): void => {
      session.calls += change
      session.lastUsed = access.clock.now()
    }
    await agentServer(this.#parts, { era: 'legacy', visitOf: this.#visitOf, busy }).connect(transport)
    return session
  }

  #makeRoom({ limits, clock }: AgentAccess): void {
    const byAge = [...this.#sessions].toSorted(([, one], [, other]) => one.lastUsed - other.lastUsed)
    const isOld = ({ lastUsed }: LegacySession): boolean => clock.now() - lastUsed > limits.sessionMs
    for (const [id, session] of byAge) {
      if (session.calls > 0 || (!isOld(session) && this.#sessions.size <= limits.connections)) continue
      this.#sessions.delete(id)
      void session.transport.close().catch(() => {})
    }
  }
}

const notFound = (): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code: -32_001, message: 'There is no such session here: connect anew.' }, id: null },
    { status: 404 },
  )

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isAgentDefinition, noDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { LocalRuntime } from '../../../../src/runtime/runtime.ts'
import { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import { Bridge } from '../../../bridge/src/server/bridge.ts'
import type { Endpoint } from '../../../bridge/src/server/endpoint.ts'
import { limitsOf } from '../../../bridge/src/server/limits.ts'
import { mustBeServed } from '../../../bridge/src/server/oneDefinition.ts'
import type { ServedDeps } from '../../../bridge/src/server/servedDeps.ts'
import { minShareKeyLength } from '../../../bridge/src/server/shareTokens.ts'
import { agentServer } from './agentServer.ts'
import type { ServerParts, ServerUse, Visit } from './serverParts.ts'
import type * as HttpModule from './answerHttp.ts'
import { agentTools } from './agentTool.ts'
import { ListeningTransport } from './listening.ts'
import { McpHttp } from './mcpHttp.ts'
import { WatchedStates } from './stateResources.ts'

export interface McpServerOptions {
  /** Name of the server that clients see. Default `escapement`. */
  readonly name?: string
  /**
   * Place at which approvals, questions and calls for clients are decided. `client`, the default: by the person at an MCP client that can ask
   * (elicitation). `elsewhere`: never by the client, which may answer by itself. In that case, and if the client cannot ask, the call ends and lists
   * the pending decisions.
   */
  readonly approve?: 'client' | 'elsewhere'
  /** Dependencies of agents that are spawned over `stdio` or `handler`, or loaded from their logs; at an endpoint those of `serve` apply. */
  readonly deps?: ServedDeps
  /**
   * Key for values that a client must return with people's answers, of 32 characters or more: the
   * same for all processes that answer the same clients over `stdio` or `handler`; at an endpoint
   * the key of `serve` applies. With another key, people are asked again. Default: a new one.
   */
  readonly shareKey?: string
}

/** Streams that carry MCP; by default those of the process. */
export interface McpStdio {
  readonly input?: Readable
  readonly output?: Writable
}

/** A connection over streams. */
export interface McpConnection {
  /** Resolves once the input has ended, or `close` was called. The agents continue. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Offers agents as the tools of an MCP server. Closed with its runtime. */
export interface McpServer {
  /** Serves one client over streams, in a process that a client starts. Standard output is then reserved for the protocol. */
  stdio(streams?: McpStdio): Promise<McpConnection>
  /** Endpoint for MCP at `/mcp`, as in `runtime.serve({ definitions, endpoints: [mcp.endpoint()] })`. Tokens, origins and limits are the server's. */
  endpoint(): Endpoint
  /**
   * Handler for your own server that uses `Request` and `Response`. Every client that reaches it may do everything, so authenticate clients first.
   */
  readonly handler: { fetch(request: Request): Promise<Response> }
  /** Closes the server's connections and endpoints. The agents continue. Idempotent. */
  close(): Promise<void>
}

const optionsSchema = onlyFields({
  name: z.string().min(1).optional(),
  approve: z.enum(['client', 'elsewhere']).optional(),
  deps: z.custom<ServedDeps>((value) => typeof value === 'function', 'give a function').optional(),
  shareKey: z.string().min(minShareKeyLength, `a key needs at least ${minShareKeyLength} characters`).optional(),
})

const definitionsSchema = z
  .array(z.custom<AgentDefinition>(isAgentDefinition, { error: noDefinition() }))
  .min(1, 'give at least one')

/**
 * Makes agents the tools of an MCP server: each definition is a tool that takes a task, and a session to continue with
 * the same agent, also after a restart. Its packages are loaded on first use: `@modelcontextprotocol/server`, for an
 * endpoint also `@modelcontextprotocol/node`.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION` for an agent whose own input has a field `session`
 *
 * @example
 * ```ts
 * import { mcpServer } from 'escapement/mcp'
 *
 * const mcp = mcpServer(runtime, [coder])
 * const server = await runtime.serve({ definitions: [coder], endpoints: [mcp.endpoint()] })
 * console.log(`http://127.0.0.1:${server.port}/mcp`)
 * ```
 */
export function mcpServer(
  runtime: AgentRuntime,
  definitions: readonly AgentDefinition[],
  options: McpServerOptions = {},
): McpServer {
  const {
    name = 'escapement',
    approve = 'client',
    deps,
    shareKey,
  } = checkedBy(optionsSchema, options, 'mcpServer: options')
  const tools = agentTools(checkedBy(definitionsSchema, definitions, 'mcpServer: definitions'))
  if (!(runtime instanceof LocalRuntime))
    throw new RuntimeError('INVALID_OPTION', 'mcpServer: the first argument is what createRuntime returns.')
  const open = new Set<{ close(): Promise<void> }>()
  const names = [...tools.keys()]
  let isClosed = false
  const parts = onceLoaded(async (): Promise<ServerParts> => {
    const sdk = await loadPeer(
      () => import('@modelcontextprotocol/server'),
      'mcpServer',
      '@modelcontextprotocol/server',
    )
    return { sdk, name, tools, asksClient: approve === 'client' }
  })
  const overHttp = (): Promise<typeof HttpModule> =>
    loadPeer(() => import('./answerHttp.ts'), 'mcpServer(…).endpoint()', '@modelcontextprotocol/node')
  const http = onceLoaded(async () => opened(new McpHttp(await parts())))
  const ownAccess = onceLoaded(async () => {
    const { shared, logger } = runtime
    const { store, clock } = shared
    const bridge = new Bridge(runtime, {
      store,
      clock,
      logger,
      redactor: () => shared.sources.redactor,
      limits: limitsOf(),
      tokens: undefined,
      definitions: new Map([...tools.values()].map(({ definition }) => [definition.name, definition])),
      deps,
      shareKey,
    })
    opened({ close: async () => bridge.close() })
    return new AgentAccess(bridge, { role: 'admin' })
  })
  const server: McpServer = {
    async stdio({ input = process.stdin, output = process.stdout } = {}) {
      const visit: Visit = { access: await ownAccess(), isLeaving: false }
      const all = await parts()
      const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
      const ended = Promise.withResolvers<void>()
      let modern: Server | undefined
      const changed = (uri: string): void => void modern?.sendResourceUpdated({ uri }).catch(() => {})
      const transport = new ListeningTransport(new StdioServerTransport(input, output), {
        access: visit.access,
        watch: () => new WatchedStates(tools, changed),
      })
      const serverOf = ({ era }: Pick<ServerUse, 'era'>): Server => {
        const made = agentServer(all, { era, visitOf: () => visit })
        if (era === 'modern') modern = made
        return made
      }
      const handle = serveStdio(serverOf, { transport })
      for (const event of ['end', 'close', 'error'] as const) input.once(event, () => ended.resolve())
      const connection = opened({
        closed: ended.promise,
        async close() {
          visit.isLeaving = true
          await handle.close()
          ended.resolve()
        },
      })
      void ended.promise.then(() => open.delete(connection))
      return connection
    },
    endpoint: () => ({
      path: '/mcp',
      headers: ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id'],
      check(served) {
        for (const one of names) mustBeServed('mcpServer', one, served)
      },
      async answer(request: IncomingMessage, response: ServerResponse, access, answering) {
        const { answerHttp } = await overHttp()
        await answerHttp(await http(), { request, response, access, answering })
      },
    }),
    handler: {
      fetch: async (request) => (await http()).answer(request, { access: await ownAccess(), isLeaving: false }),
    },
    async close() {
      isClosed = true
      const closing = [...open]
      open.clear()
      await Promise.all(closing.map((one) => one.close()))
    },
  }
  runtime.closeWith(server)
  return server

  /** Keeps a resource until the server is closed. */
  function opened<T extends { close(): Promise<void> }>(one: T): T {
    if (isClosed) throw new RuntimeError('RUNTIME_CLOSED', 'This MCP server is closed.')
    open.add(one)
    return one
  }
}

/** Returns a function that loads on its first call; a failed load is tried again. */
function onceLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load().catch((thrown: unknown) => {
      loaded = undefined
      throw thrown
    })
    return loaded
  }
}

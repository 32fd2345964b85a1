import { PassThrough } from 'node:stream'
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ElicitRequest,
  type ElicitResult,
  type Progress,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { createRuntime, type Runtime } from '../../../bridge/src/createRuntime.ts'
import { mcpServer, type McpServer, type McpServerOptions } from '../../src/server/mcpServer.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { BridgeServer, ServeOptions } from '../../../bridge/src/server/serveOptions.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** How a client reaches the server, and what it speaks. */
export const ways = ['stdio, legacy', 'stdio, modern', 'HTTP, legacy', 'HTTP, modern'] as const
export type Way = (typeof ways)[number]

export type Fill = (params: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>

export interface ClientOptions {
  /** Fills in forms; a client without it has none. */
  readonly fill?: Fill
  readonly token?: string
}

/** Answer of a tool of ours. */
export interface Told {
  readonly session: string
  readonly stopReason: string
  readonly text: string
  readonly isError: boolean
  readonly data: { readonly [field: string]: unknown }
}

export interface Host {
  readonly runtime: Runtime
  readonly store: Store
  readonly mcp: McpServer
  readonly server: BridgeServer
  connect(way: Way, options?: ClientOptions): Promise<Client>
  /** Resolves once the server has noticed that the last client over streams is gone. */
  left(): Promise<void> | undefined
}

/** A runtime whose agents are tools, and clients of the SDK for it; everything is closed after the case. */
export async function openHost(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  definitions: readonly AgentDefinition[],
  options: {
    readonly store?: Store
    readonly clock?: Clock
    readonly mcp?: McpServerOptions
    readonly serve?: Omit<ServeOptions, 'definitions' | 'endpoints'>
  } = {},
): Promise<Host> {
  const store = options.store ?? memoryStore()
  const runtime = await createRuntime({ store, ...(options.clock === undefined ? {} : { clock: options.clock }) })
  cleanup(() => runtime.close().catch(() => {}))
  const mcp = mcpServer(runtime, definitions, options.mcp)
  const endpoints = [mcp.endpoint()]
  const server = await runtime.serve({ definitions, endpoints, limits: { drainMs: 50 }, ...options.serve })
  let closed: Promise<void> | undefined
  const transport = async (way: Way, token: string | undefined): Promise<Transport> => {
    if (way.startsWith('HTTP')) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const url = new URL(`http://127.0.0.1:${server.port}/mcp`)
      return new StreamableHTTPClientTransport(url, { requestInit: { headers } })
    }
    const [there, back] = [new PassThrough(), new PassThrough()]
    ;({ closed } = await mcp.stdio({ input: there, output: back }))
    const streams = new StdioServerTransport(back, there)
    const { close } = streams
    // As a process that ends.
    streams.close = async () => {
      await close.call(streams)
      there.end()
    }
    return streams
  }
  return {
    runtime,
    store,
    mcp,
    server,
    left: () => closed,
    async connect(way, { fill, token } = {}) {
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        {
          capabilities: fill === undefined ? {} : { elicitation: { form: {} } },
          versionNegotiation: { mode: way.endsWith('modern') ? { pin: '2026-07-28' } : 'legacy' },
        },
      )
      if (fill !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => fill(params))
      cleanup(() => client.close().catch(() => {}))
      await client.connect(await transport(way, token))
      return client
    },
  }
}

/** Calls an agent's tool. */
export async function call(
  client: Client,
  name: string,
  input: { readonly [field: string]: unknown },
  options: { readonly signal?: AbortSignal; readonly onprogress?: (progress: Progress) => void } = {},
): Promise<Told> {
  const result = await client.callTool({ name, arguments: input }, options)
  return toldBy(result)
}

export function toldBy({ content, structuredContent, isError }: CallToolResult): Told {
  const [first] = content
  const data = (structuredContent ?? {}) as Told['data']
  return {
    session: data['session'] as string,
    stopReason: data['stopReason'] as string,
    text: first?.type === 'text' ? first.text : '',
    isError: isError === true,
    data,
  }
}

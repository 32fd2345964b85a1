import type * as SdkModule from '@modelcontextprotocol/server'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { AgentTool } from './agentTool.ts'

/** Module `@modelcontextprotocol/server`, which is loaded when it is needed. */
export type Sdk = typeof SdkModule

/** Request or connection of an admitted client. */
export interface Visit {
  readonly access: AgentAccess
  /** True once the server closes the connection, which does not count as a cancellation. */
  isLeaving: boolean
}

/** Parts that all servers of one `mcpServer` share. */
export interface ServerParts {
  readonly sdk: Sdk
  readonly name: string
  readonly tools: ReadonlyMap<string, AgentTool>
  /** True if people may be asked through the client. */
  readonly asksClient: boolean
}

/** One server of the SDK, which has one connection, or answers one request. */
export interface ServerUse {
  /** Version of the protocol: `modern` since 2026-07-28, `legacy` before. */
  readonly era: 'modern' | 'legacy'
  visitOf(ctx: ServerContext): Visit
  /** Called around each call of a tool. */
  busy?(change: 1 | -1): void
}

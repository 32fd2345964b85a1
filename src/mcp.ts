/**
 * The door "escapement/mcp": the tools of servers of the Model Context Protocol, which needs `@modelcontextprotocol/client`; and agents
 * as such a server, which needs `@modelcontextprotocol/server`, and over HTTP `@modelcontextprotocol/node`.
 */
export { mcpTools } from '../packages/mcp/src/client/mcpTools.ts'
export type { McpApproval, McpAuth, McpOptions, McpRestart } from '../packages/mcp/src/client/options.ts'
export { fileAuth, type FileAuthOptions } from '../packages/mcp/src/client/fileAuth.ts'
export { mcpConnectionMachine } from '../packages/mcp/src/client/connectionMachine.ts'
export {
  mcpServer,
  type McpConnection,
  type McpServer,
  type McpServerOptions,
  type McpStdio,
} from '../packages/mcp/src/server/mcpServer.ts'

/**
 * The door "escapement/mcp": the tools of servers of the Model Context Protocol, which needs `@modelcontextprotocol/client`; and agents
 * as such a server, which needs `@modelcontextprotocol/server`, and over HTTP `@modelcontextprotocol/node`.
 */
export { mcpTools } from './mcp/mcpTools.ts'
export type { McpApproval, McpAuth, McpOptions, McpRestart } from './mcp/options.ts'
export { fileAuth, type FileAuthOptions } from './mcp/fileAuth.ts'
export { mcpConnectionMachine } from './mcp/connectionMachine.ts'
export {
  mcpServer,
  type McpConnection,
  type McpServer,
  type McpServerOptions,
  type McpStdio,
} from './server/mcp/mcpServer.ts'

/**
 * The door "escapement/mcp": tools from servers of the Model Context Protocol, which need `@modelcontextprotocol/client`,
 * and agents as such a server, which needs `@modelcontextprotocol/server`, and over HTTP `@modelcontextprotocol/node`.
 */

// Tools of servers
export { mcpTools } from '../packages/mcp/src/client/mcpTools.ts'
export type { McpAuth } from '../packages/mcp/src/client/options.ts'
export { fileAuth } from '../packages/mcp/src/client/fileAuth.ts'
export { mcpConnectionMachine } from '../packages/mcp/src/client/connectionMachine.ts'

// Agents as a server
export { mcpServer, type McpServer } from '../packages/mcp/src/server/mcpServer.ts'

import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { fileAuth, mcpTools, type McpAuth } from '../../src/mcp.ts'

// What the package has is taken as it is, and so is our own.
declare const provider: OAuthClientProvider
const url = 'https://tickets.example.org/mcp'
mcpTools({ name: 'tickets', url, auth: provider })
mcpTools({ name: 'tickets', url, auth: fileAuth('tokens') })

declare const own: McpAuth
mcpTools({ name: 'tickets', url, auth: own })

// @ts-expect-error it is no provider
mcpTools({ name: 'tickets', url, auth: { tokens: () => undefined } })

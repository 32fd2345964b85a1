/** Media type of an app. */
export const appType = 'text/html;profile=mcp-app'

/** Capability of a client that shows apps. */
export const appsCapability = { 'io.modelcontextprotocol/ui': { mimeTypes: [appType] } }

import { isFields } from '../../../../../src/protocol/checks/isObject.ts'
/** Domains that an app may use, as its server names them. */
export interface McpAppCsp {
  readonly connectDomains?: readonly string[]
  readonly resourceDomains?: readonly string[]
  readonly frameDomains?: readonly string[]
}

/** An app of an MCP server with the result of the call that it shows: the field `mcpApp` of a call's data. */
export interface McpAppData {
  /** Name of the server. */
  readonly server: string
  /** Address of the app at the server: `ui://…`. */
  readonly uri: string
  readonly html: string
  readonly csp?: McpAppCsp
  /** True if the app wants a border around it. */
  readonly border?: boolean
  /** The server's own name of the tool. */
  readonly tool: string
  /** Result of the call as the server gave it. */
  readonly result: { readonly [field: string]: unknown }
}

/** Name of the data field with the app. */
export const mcpAppName = 'mcpApp'

/** Returns the app in the data of a call; `undefined` if there is none. Pure. */
export function mcpAppIn(data: unknown): McpAppData | undefined {
  const app = isFields(data) ? data[mcpAppName] : undefined
  if (!isFields(app) || typeof app['html'] !== 'string' || !isFields(app['result'])) return undefined
  return app as unknown as McpAppData
}

/** Returns true for an origin, optionally with a pattern for its subdomains, such as `https://*.example.org`. It cannot end a directive. */
const isDomain = (domain: unknown): domain is string =>
  typeof domain === 'string' && /^(?:https|wss):\/\/(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?$/.test(domain)

const domainsIn = (given: unknown): string =>
  (Array.isArray(given) ? given.filter(isDomain) : []).map((one) => ` ${one}`).join('')

/** Returns the content security policy of an app: only its own content and the domains that its server names. Pure. */
export function appPolicy({ connectDomains, resourceDomains, frameDomains }: McpAppCsp = {}): string {
  const resources = domainsIn(resourceDomains)
  const connects = domainsIn(connectDomains)
  const frames = domainsIn(frameDomains)
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline'${resources}`,
    `style-src 'unsafe-inline'${resources}`,
    `img-src data: blob:${resources}`,
    `font-src data:${resources}`,
    `media-src data: blob:${resources}`,
    `connect-src${connects || " 'none'"}`,
    `frame-src${frames || " 'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

/** Returns the document of an app, with its policy before any content of the app. Pure. */
export const appDocument = ({ html, csp }: Pick<McpAppData, 'html' | 'csp'>): string =>
  `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${appPolicy(csp)}">${html}`

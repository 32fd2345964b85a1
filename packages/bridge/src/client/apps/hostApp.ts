import { version } from '../../../../../src/protocol/version.ts'
import type { McpAppData } from './mcpApp.ts'

/** The window of an app, with only the members that are used. */
export interface AppWindow {
  postMessage(message: unknown, origin: string): void
}

/** Source of the messages from apps, such as the window of the page. */
export interface AppListening {
  addEventListener(type: 'message', listener: (event: AppMessageEvent) => void): void
  removeEventListener(type: 'message', listener: (event: AppMessageEvent) => void): void
}

interface AppMessageEvent {
  readonly data: unknown
  readonly source: unknown
}

/** The surroundings of an app. The app can act only through these members. */
export interface AppHost {
  /** Arguments of the call that the app shows. */
  readonly input: unknown
  readonly theme?: 'light' | 'dark'
  /** Sets the height that the app asks for, in pixels. */
  readonly resize: (height: number) => void
  /** Opens an address (http or https) at the app's request. If missing, such requests are refused. */
  readonly openLink?: (url: string) => void
  /** Says a text to the agent at the app's request. If missing, such requests are refused. */
  readonly say?: (text: string) => void | Promise<void>
  /** Calls a tool of the app's server for the app. Resolves to the result in the protocol's form. If missing, such requests are refused. */
  readonly callTool?: (name: string, input: object) => Promise<object>
}

/** Version of the protocol of apps. */
const protocolVersion = '2026-01-26'
/** Maximum height of an app, in pixels. A higher app scrolls inside. */
const mostHeight = 2_000

interface Message {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly [field: string]: unknown }
}

type Answer = { readonly result: object } | { readonly error: { readonly code: number; readonly message: string } }

const isMessage = (data: unknown): data is Message =>
  typeof data === 'object' && data !== null && (data as Message).jsonrpc === '2.0'

const refused = (message: string): Answer => ({ error: { code: -32_601, message } })
const failed: Answer = { result: { isError: true } }

/** Serves as an app's host, by messages between its window and the page's. Returns a function that removes the listener and ends the app. */
export function hostApp(app: McpAppData, frame: AppWindow, listening: AppListening, host: AppHost): () => void {
  const send = (message: object): void => frame.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const listen = ({ data, source }: AppMessageEvent): void => {
    if (source !== frame || !isMessage(data) || data.method === undefined) return
    const { id, method, params = {} } = data
    if (id === undefined) return hear(method, params)
    void answer(app, host, method, params).then((given) => send({ id, ...given }))
  }
  const hear = (method: string, { height }: NonNullable<Message['params']>): void => {
    if (method === 'ui/notifications/size-changed' && typeof height === 'number' && height >= 0)
      host.resize(Math.min(Math.ceil(height), mostHeight))
    if (method !== 'ui/notifications/initialized') return
    send({ method: 'ui/notifications/tool-input', params: { arguments: host.input ?? {} } })
    send({ method: 'ui/notifications/tool-result', params: { content: [], ...app.result } })
  }
  listening.addEventListener('message', listen)
  return () => {
    listening.removeEventListener('message', listen)
    send({ id: 'teardown', method: 'ui/resource-teardown', params: {} })
  }
}

async function answer(
  app: McpAppData,
  host: AppHost,
  method: string,
  params: NonNullable<Message['params']>,
): Promise<Answer> {
  try {
    switch (method) {
      case 'ping':
        return { result: {} }
      case 'ui/initialize':
        return { result: initialized(app, host) }
      case 'ui/request-display-mode':
        return { result: { mode: 'inline' } }
      case 'ui/open-link':
        return openLink(host, params['url'])
      case 'ui/message':
        return await say(host, params['content'])
      case 'tools/call':
        return await callTool(host, params)
      default:
        return refused(`This host does nothing for ${JSON.stringify(method)}.`)
    }
  } catch (thrown) {
    return { error: { code: -32_603, message: thrown instanceof Error ? thrown.message : String(thrown) } }
  }
}

const initialized = (
  { tool }: McpAppData,
  { theme, openLink: opens, say: says, callTool: calls }: AppHost,
): object => ({
  protocolVersion,
  hostInfo: { name: 'escapement', version },
  hostCapabilities: {
    logging: {},
    ...(opens === undefined ? {} : { openLinks: {} }),
    ...(says === undefined ? {} : { message: { text: {} } }),
    ...(calls === undefined ? {} : { serverTools: {} }),
  },
  hostContext: {
    ...(theme === undefined ? {} : { theme }),
    displayMode: 'inline',
    availableDisplayModes: ['inline'],
    platform: 'web',
    containerDimensions: { maxHeight: mostHeight },
    toolInfo: { tool: { name: tool, inputSchema: { type: 'object' } } },
  },
})

function openLink({ openLink: opens }: AppHost, url: unknown): Answer {
  if (opens === undefined || typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return failed
  opens(url)
  return { result: {} }
}

async function say({ say: says }: AppHost, content: unknown): Promise<Answer> {
  const blocks = (Array.isArray(content) ? content : [content]) as ({ readonly text?: unknown } | null | undefined)[]
  const text = blocks.flatMap((block) => (typeof block?.text === 'string' ? [block.text] : [])).join('\n')
  if (says === undefined || text.trim() === '') return failed
  await says(text)
  return { result: {} }
}

async function callTool(
  { callTool: calls }: AppHost,
  { name, arguments: input }: NonNullable<Message['params']>,
): Promise<Answer> {
  if (typeof name !== 'string') return { error: { code: -32_602, message: 'A call of a tool needs its name.' } }
  if (calls === undefined)
    return refused(
      `The app may not call ${JSON.stringify(name)}: here only the agent calls tools, under its rules and approvals.`,
    )
  return { result: await calls(name, typeof input === 'object' && input !== null ? input : {}) }
}

import { createElement, useEffect, useRef, type ReactElement } from 'react'
import { hostApp, type AppHost, type AppListening, type AppWindow } from '../../bridge/src/client/apps/hostApp.ts'
import { appDocument, mcpAppIn } from '../../bridge/src/client/apps/mcpApp.ts'

export interface McpAppProps extends Partial<Omit<AppHost, 'resize' | 'input'>> {
  /** Data of a call, as `useCall` returns it. Its field `mcpApp` is the app. Without an app nothing is shown. */
  readonly data: unknown
  /** Arguments of the call. */
  readonly input?: unknown
  /** Name of the frame for people who cannot see it. Default: that of the app's server. */
  readonly title?: string
  readonly className?: string
}

/** A browser frame, declared here because this project does not use the DOM types. */
interface Frame {
  readonly contentWindow: AppWindow | null
  readonly style: { height: string }
  srcdoc: string
}

/** Height in pixels of an app that has not reported the height it needs. */
const firstHeight = 240

/**
 * An app of an MCP server (`mcpTools({ …, apps: true })`) with the result of a call, in a frame that shares nothing with the page: no origin, no
 * storage, and of the network only what its server names. What the app would like to do is refused unless there is a function for it: `openLink`,
 * `say`, `callTool`. The page's own content security policy applies to the frame too; it must allow inline scripts there.
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { McpApp, useCall } from 'escapement/react'
 *
 * function Shown({ id, callId }: { id: string; callId: string }) {
 *   const call = useCall(id, callId)
 *   return createElement(McpApp, { data: call?.data, input: call?.input })
 * }
 * ```
 */
export function McpApp({ data, input, title, className, ...host }: McpAppProps): ReactElement | null {
  const frame = useRef<Frame>(null)
  const given = useRef(host)
  given.current = host
  const app = mcpAppIn(data)
  const html = app?.html
  useEffect(() => {
    const element = frame.current
    if (app === undefined || element?.contentWindow == null) return undefined
    const { theme, openLink, say, callTool } = given.current
    // Before the app begins, which speaks first.
    const end = hostApp(app, element.contentWindow, globalThis as unknown as AppListening, {
      input,
      resize: (height) => void (element.style.height = `${height}px`),
      ...(theme === undefined ? {} : { theme }),
      ...(openLink === undefined ? {} : { openLink: (url) => given.current.openLink?.(url) }),
      ...(say === undefined ? {} : { say: (text) => given.current.say?.(text) }),
      ...(callTool === undefined
        ? {}
        : { callTool: async (name, args) => (await given.current.callTool?.(name, args)) ?? {} }),
    })
    element.srcdoc = appDocument(app)
    return end
  }, [html, app?.result])
  if (app === undefined) return null
  return createElement('iframe', {
    ref: frame as never,
    sandbox: 'allow-scripts',
    title: title ?? `App of ${app.server}`,
    style: { width: '100%', border: 0, height: firstHeight },
    ...(className === undefined ? {} : { className }),
  })
}

import { useEffect, useRef, useState } from 'preact/hooks'
import { hostApp } from '../../../../../bridge/src/client/apps/hostApp.ts'
import { appDocument, type McpAppData } from '../../../../../bridge/src/client/apps/mcpApp.ts'
import { forDisplay } from '../../model/words/shortText.ts'

export interface AppViewProps {
  readonly app: McpAppData
  /** Arguments of the call. */
  readonly input: unknown
}

/** Height of an app that has not said how much it needs, in pixels. */
const firstHeight = 240

/** An app of a tool with the result of a call, in a frame that shares nothing with the page. */
export function AppView({ app, input }: AppViewProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [links, setLinks] = useState<readonly string[]>([])
  useEffect(() => {
    const element = frame.current!
    let end = (): void => {}
    const begin = (): void => {
      const inner = element.contentWindow!
      const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
      end = hostApp(app, inner, window, {
        input,
        theme,
        resize: (height) => void (element.style.height = `${height}px`),
        openLink: (url) => setLinks((before) => (before.includes(url) ? before : [...before.slice(-4), url])),
      })
      inner.postMessage({ escapementApp: appDocument(app) }, '*')
    }
    element.addEventListener('load', begin, { once: true })
    element.src = 'app-frame'
    return () => {
      element.removeEventListener('load', begin)
      end()
    }
  }, [app])
  const { uri, server } = app
  return (
    <>
      <iframe
        ref={frame}
        class="app-frame"
        sandbox="allow-scripts"
        title={`App of ${forDisplay(server)}`}
        style={{ height: `${firstHeight}px` }}
      />
      <p class="muted small">
        <bdi class="mono">{forDisplay(uri)}</bdi>, an app of the server {forDisplay(server)}
      </p>
      {links.length === 0 ? null : (
        <ul class="small" aria-label="Addresses that the app wants to open">
          {links.map((url) => (
            <li key={url}>
              It wants to open{' '}
              <a class="mono" href={url} target="_blank" rel="noopener noreferrer">
                {forDisplay(url)}
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

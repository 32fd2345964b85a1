import { createHash } from 'node:crypto'
import type { PageFile } from './pageFiles.ts'

/** Path of the frame in which the page shows apps of tools. */
export const appFramePath = '/app-frame'

/** Document of the frame. The first message that it takes from the page around it is the app's document, which begins with the app's own policy. */
const frame = `<!doctype html><meta charset="utf-8"><title>App</title><script>
addEventListener('message', function take({ source, data }) {
  if (source !== parent || typeof data?.escapementApp !== 'string') return
  removeEventListener('message', take)
  document.open()
  document.write(data.escapementApp)
  document.close()
})
</script>
`

const body = Buffer.from(frame)

export const appFrame: PageFile = {
  type: 'text/html; charset=utf-8',
  body,
  encodings: [],
  encoded: () => Promise.resolve(body),
  tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`,
  isLasting: false,
}

/** Returns the policy with the most that any app may do. The sandbox isolates the frame from the page, wherever it is opened. */
export const appFramePolicy = (frameAncestors: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'unsafe-inline' https:",
    "style-src 'unsafe-inline' https:",
    'img-src https: data: blob:',
    'font-src https: data:',
    'media-src https: data: blob:',
    'connect-src https: wss:',
    'frame-src https:',
    "base-uri 'none'",
    "form-action 'none'",
    'sandbox allow-scripts',
    `frame-ancestors ${["'self'", ...frameAncestors].join(' ')}`,
  ].join('; ')

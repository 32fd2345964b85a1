import { createHash } from 'node:crypto'
import type { PageAssets } from './pageAssets.ts'
import { inScript, type PackedSession, type PageIndex } from './sessionFile.ts'

/** Returns the content security policy: the page fetches nothing, and only the named scripts run. */
const policy = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src ${script}`,
    `style-src ${style}`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

interface Parts {
  readonly title: string
  readonly policy: string
  readonly icon: string
  readonly head: string
  readonly scripts: string
}

const html = ({ title, policy: rules, icon, head, scripts }: Parts): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escaped(rules)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(title)}</title>
    <link rel="icon" href="data:image/svg+xml;base64,${Buffer.from(icon).toString('base64')}" />
    ${head}
  </head>
  <body>
    <div id="page"></div>
    <noscript>The inspector needs JavaScript.</noscript>
    ${scripts}
  </body>
</html>
`

/** Returns the page that stands beside the files of sessions, as HTML. Pure. */
export const folderPage = ({ icon }: Pick<PageAssets, 'icon'>): string =>
  html({
    title: 'escapement sessions',
    // What 'self' is of a page from a disk, not every browser says.
    policy: policy("'self' file:", "'self' file:"),
    icon,
    head: '<link rel="stylesheet" href="assets/inspector.css" />',
    scripts: '<script src="sessions.js"></script>\n    <script src="assets/inspector.js"></script>',
  })

/** Escapes the texts in code that would end its script in a page. In code these only stand in literals. */
const insidePage = (code: string): string =>
  code.replace(/<\/(script|style)/gi, String.raw`<\/$1`).replaceAll('<!--', String.raw`<\!--`)

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Returns a page that has everything in itself, as HTML: one file for one session, with its sub-agents. Pure. */
export function singlePage(
  { script, style, icon }: PageAssets,
  index: PageIndex,
  sessions: readonly PackedSession[],
): string {
  const code = insidePage(script)
  const look = insidePage(style)
  const data = [
    `<script type="application/json" data-escapement="sessions">${inScript(index)}</script>`,
    ...sessions.map(
      (session) => `<script type="application/json" data-escapement="session">${inScript(session)}</script>`,
    ),
  ]
  return html({
    title: `${index.files[0]?.root ?? 'escapement'} · escapement`,
    policy: policy(hashOf(code), hashOf(look)),
    icon,
    head: `<style>${look}</style>`,
    scripts: `${data.join('\n    ')}\n    <script>${code}</script>`,
  })
}

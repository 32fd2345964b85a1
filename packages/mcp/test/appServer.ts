import { createServer, type RequestListener } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { judgeFile } from '../../../test/judges/judge.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

/** The app: it tells what it is told, and what it may not do. `App` is the SDK's. */
const script = `
const told = (id, value) => { document.getElementById(id).textContent = typeof value === 'string' ? value : JSON.stringify(value) }
const app = new App({ name: 'chart', version: '1.0.0' }, {})
app.ontoolinput = ({ arguments: input }) => told('input', input)
app.ontoolresult = ({ structuredContent }) => told('result', structuredContent)
const tries = {
  call: () => app.callServerTool({ name: 'chart', arguments: { of: 'again' } }).then((result) => JSON.stringify(result)),
  link: () => app.openLink({ url: 'https://example.org/more' }).then(({ isError }) => String(isError === true)),
  say: () => app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'Hello' }] }).then(({ isError }) => String(isError === true)),
  store: async () => localStorage.length,
  page: async () => parent.document.title,
  net: () => fetch('http://127.0.0.1:9/').then(() => 'reached'),
}
for (const [id, work] of Object.entries(tries))
  document.getElementById('try-' + id).onclick = () => work().then((said) => told(id, said), (thrown) => told(id, 'no: ' + thrown.message))
await app.connect()
told('host', app.getHostVersion())
`

const names = ['call', 'link', 'say', 'store', 'page', 'net']

/** The app as a document, with the SDK of apps in it. */
export async function appHtml(): Promise<string> {
  const sdk = await readFile(judgeFile('@modelcontextprotocol', 'ext-apps', 'dist', 'src', 'app-with-deps.js'), 'utf8')
  const end = sdk.lastIndexOf('export{')
  const name = /([\w$]+) as App\b/.exec(sdk.slice(end))![1]!
  const module = `${sdk.slice(0, end)};const App=${name};${script}`.replaceAll('</script', '<\\/script')
  const rows = ['host', 'input', 'result', ...names].map((id) => `<p>${id}: <output id="${id}"></output></p>`)
  const buttons = names.map((id) => `<button id="try-${id}">${id}</button>`)
  return `<!doctype html><html lang="en"><head><title>Chart</title></head><body><h1>Chart</h1>${rows.join('')}${buttons.join('')}<script type="module">${module}</script></body></html>`
}

/** Serves a tool \`chart\` with an app, and one that is for apps alone; gives the port. */
export async function serveApp({ cleanup }: Pick<CaseContext, 'cleanup'>, given?: string): Promise<number> {
  const html = given ?? (await appHtml())
  const uri = 'ui://chart/app.html'
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'charts', version: '1.0.0' })
    const inputSchema = fromJsonSchema<{ of: string }>({ type: 'object', properties: { of: { type: 'string' } } })
    server.registerTool('chart', { inputSchema, _meta: { ui: { resourceUri: uri } } }, ({ of }) => ({
      content: [{ type: 'text', text: `A chart of ${of}.` }],
      structuredContent: { points: of.length },
    }))
    server.registerTool('refresh', { inputSchema, _meta: { ui: { resourceUri: uri, visibility: ['app'] } } }, () => ({
      content: [],
    }))
    server.registerResource('chart', uri, { mimeType: 'text/html;profile=mcp-app' }, () => ({
      contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: html }],
    }))
    return server
  })
  const server = createServer(toNodeHandler(handler) as unknown as RequestListener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

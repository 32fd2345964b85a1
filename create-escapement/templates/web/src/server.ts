import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { createRuntime, type AiSdkModel, type Model, type Runtime, type Store } from 'escapement'
import { support } from './agent.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

/** A server with the page in a folder, and an agent for each visitor beside it. */
export async function openServer(
  model: Model | AiSdkModel,
  store: Store,
  pageFolder: string,
): Promise<{ readonly server: Server; readonly runtime: Runtime }> {
  const runtime = await createRuntime({ store, idleUnloadMs: 60_000 })
  const server = createServer((request, response) => {
    // Whatever strangers send, it must not throw in here: that would end the process for everybody.
    const pathname = URL.parse(request.url ?? '', 'http://localhost')?.pathname
    if (pathname === undefined) return void response.writeHead(400).end('This is no address.')
    // One folder without others below it but assets/: no path leads out of it.
    const name = /^\/(assets\/)?[\w.-]+$/.test(pathname) && !pathname.includes('..') ? pathname : '/index.html'
    void readFile(join(pageFolder, name)).then(
      (content) => {
        if (visitorOf(request) === undefined)
          response.setHeader(
            'set-cookie',
            `visitor=${randomUUID()}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
          )
        response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream').end(content)
      },
      () => response.writeHead(404).end('There is no such page.'),
    )
  })
  await runtime.serve({
    server,
    definitions: [support(model)],
    // Put your own login here. Agents are seen by the visitor who began them, and by nobody else.
    authenticate: (request) => {
      const visitor = visitorOf(request)
      return visitor === undefined ? null : { role: 'admin', metadata: { visitor } }
    },
  })
  return { server, runtime }
}

const visitorOf = ({ headers }: IncomingMessage): string | undefined =>
  /(?:^|;\s*)visitor=([0-9a-f-]{36})(?:;|$)/.exec(headers.cookie ?? '')?.[1]

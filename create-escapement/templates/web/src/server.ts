import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { createRuntime, type AnyModel, type Runtime, type Store } from 'escapement'
import { support } from './agent.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

export interface ServerOptions {
  /** Where the page for visitors is. */
  readonly pageFolder: string
  /** Token that lets its holder see all conversations at /staff/ and approve what visitors cannot: 16 characters or more, random. */
  readonly staffToken: string
}

/** A server with the page in a folder, an agent for each visitor beside it, and a page for staff. */
export async function openServer(
  model: AnyModel,
  store: Store,
  { pageFolder, staffToken }: ServerOptions,
): Promise<{ readonly server: Server; readonly runtime: Runtime }> {
  const runtime = await createRuntime({ store, idleUnloadMs: 60_000 })
  const agent = support(model)
  const server = createServer()
  const agents = await runtime.serve({
    server,
    definitions: [agent],
    base: '/staff/',
    path: '/bridge',
    inspector: true,
    // Put your own login here. Visitors talk with an agent of their own, see what is said there, and can do nothing else.
    authenticate: (request) => {
      const visitor = visitorOf(request)
      return visitor === undefined ? null : { role: 'talk', metadata: { visitor }, owner: visitor }
    },
    // Staff see everything, talk and approve; they change no agent.
    tokens: { [staffToken]: { may: ['see.all', 'talk', 'answer.own', 'approve'] } },
  })
  // What the last process was in the middle of goes on.
  await runtime.resumeAll({ definitions: [agent] })

  server.on('request', (request, response) => {
    if (agents.handle(request, response)) return
    // Whatever strangers send, it must not throw in here: that would end the process for everybody.
    const pathname = URL.parse(request.url ?? '', 'http://localhost')?.pathname
    if (pathname === undefined) return void response.writeHead(400).end('This is no address.')
    const visitor = visitorOf(request)
    // Visitors begin no agents: each has one, however often it is asked for.
    if (pathname === '/conversation' && visitor !== undefined) {
      void runtime.open(`support-${visitor}`, agent, { metadata: { visitor } }).then(
        ({ id }) => response.end(id),
        () => response.writeHead(500).end('There is no conversation now.'),
      )
      return
    }
    // One folder without others below it but assets/: no path leads out of it.
    const name = /^\/(assets\/)?[\w.-]+$/.test(pathname) && !pathname.includes('..') ? pathname : '/index.html'
    void readFile(join(pageFolder, name)).then(
      (content) => {
        if (visitor === undefined)
          response.setHeader(
            'set-cookie',
            `visitor=${randomUUID()}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
          )
        response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream').end(content)
      },
      () => response.writeHead(404).end('There is no such page.'),
    )
  })
  return { server, runtime }
}

/** A name for whose cookie it is, in ids and logs: whoever knows the cookie itself is the visitor. */
function visitorOf({ headers }: IncomingMessage): string | undefined {
  const cookie = /(?:^|;\s*)visitor=([0-9a-f-]{36})(?:;|$)/.exec(headers.cookie ?? '')?.[1]
  return cookie === undefined ? undefined : createHash('sha256').update(cookie).digest('hex').slice(0, 20)
}

/**
 * `npm run dev [-- --port <number>]`: the inspector page from its sources, on a server with agents that need neither a key nor a
 * network. Vite replaces what is changed in the browser; the server is as it was at the start.
 */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { createServer as createVite } from 'vite'
import type { AgentDefinition } from '../src/actors/define/agentDefinition.ts'
import { embeddedSorter, sorterSetting } from '../packages/cli/src/demo/sorter.ts'
import { checkFile, checkProgram, defaultTimeLimitMs, sortTask } from '../packages/demo/src/sortTask.ts'
import { openWorkshop } from '../packages/cli/src/demo/workshop.ts'
import { embeddedModel } from '../packages/cli/src/embedded/embeddedModel.ts'
import { defineCoder } from '../packages/cli/src/sessions/openSession.ts'
import { createRuntime } from '../packages/bridge/src/createRuntime.ts'
import { hasCode } from '../src/protocol/errors.ts'

const host = '127.0.0.1'
const defaultPort = '5173'
const wordDelayMs = 18
const page = join(import.meta.dirname, '..', 'packages', 'page', 'src', 'inspector')

/** Functions that close the opened resources, called last in, first out. */
const closers: (() => unknown)[] = []

async function close(): Promise<void> {
  for (const closer of closers.splice(0).toReversed()) await closer()
}

function openFolder(project?: Readonly<Record<string, string>>): ReturnType<typeof openWorkshop> {
  const workshop = openWorkshop(project)
  closers.push(() => rm(dirname(workshop.dir), { recursive: true, force: true, maxRetries: 5 }))
  return workshop
}

/** Gives up a dead end, so that there is an abandoned branch to look at. */
const sorter = (): AgentDefinition =>
  defineCoder({
    ...openFolder({ [checkFile]: checkProgram }),
    ...sorterSetting(false),
    choice: embeddedSorter(true),
    name: 'sorter',
  })

/** Repairs a failing test, and asks before every command, so that there are approvals to give. */
const coder = (): AgentDefinition =>
  defineCoder({
    ...openFolder(),
    needsApproval: () => true,
    choice: { model: embeddedModel({ wordDelayMs }), isEmbedded: true },
  })

async function listen(http: Server, port: number): Promise<number> {
  try {
    http.listen(port, host)
    await once(http, 'listening')
  } catch (thrown) {
    if (!hasCode(thrown, 'EADDRINUSE')) throw thrown
    const message = `Port ${port} is taken, perhaps by another "npm run dev". For a free one: npm run dev -- --port 0`
    throw new Error(message, { cause: thrown })
  }
  return (http.address() as AddressInfo).port
}

/** Opens everything and gives the address of the page. */
async function start(port: number): Promise<string> {
  const http = createServer()
  const sockets = new Set<Socket>()
  http.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  const answering = Promise.withResolvers<RequestListener>()
  http.on('request', (...exchange) => void answering.promise.then((answer) => answer(...exchange)))
  const taken = await listen(http, port)
  closers.push(() => {
    http.close()
    for (const socket of sockets) socket.destroy()
  })

  const definitions = [sorter(), coder()]
  const runtime = await createRuntime()
  closers.push(() => runtime.close())
  const server = await runtime.serve({ server: http, definitions })
  const vite = await createVite({
    root: page,
    configFile: join(page, 'vite.config.ts'),
    clearScreen: false,
    server: { middlewareMode: true, ws: { server: http } },
    // Vite does not look into workers before they are started, and would load the page anew.
    optimizeDeps: { include: ['elkjs/lib/elk-worker.min.js'] },
  })
  closers.push(() => vite.close())
  // First of all, or the page would come back at once.
  closers.push(() => void http.close())
  answering.resolve((request, response) => {
    if (!server.handle(request, response)) vite.middlewares(request, response)
  })

  const agent = await runtime.spawn(definitions[0]!, { id: 'sorter' })
  agent.prompt(sortTask(defaultTimeLimitMs))
  return `http://${host}:${taken}/#agent=${agent.id}`
}

function readPort(): number {
  const { values } = parseArgs({ options: { port: { type: 'string', default: defaultPort } } })
  const port = Number(values.port)
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535)
    throw new Error(`--port takes a number up to 65535, not "${values.port}".`)
  return port
}

if (import.meta.main) {
  const stopped = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name)))
  try {
    const url = await start(readPort())
    console.log(`The inspector, reloaded as its sources change: ${url} (Ctrl-C ends)`)
    await stopped
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  } finally {
    await close()
  }
}

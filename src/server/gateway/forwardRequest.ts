import { createHash } from 'node:crypto'
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import { isAgentId } from '../../protocol/ids.ts'
import type { AgentFinder } from './agentFinder.ts'

/** How long a worker may take to begin its answer, in milliseconds, and how many are tried. */
const answerMs = 60_000
const mostTries = 3
/** A session of MCP is one worker's: which one stands before its id, as a hash that says nothing. */
const sessionHeader = 'mcp-session-id'
const workerMark = /^([0-9a-f]{12})\.(.*)$/

/** Headers between two ends of one connection, and those that say who the client is, which only the gateway says. */
const keptBack: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A request as it goes on to a worker. */
export interface Forwarding {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Its path and query; below what is the worker's own, or at the path of another protocol. */
  readonly target: { readonly path: string; readonly isOwn: boolean }
  readonly body: string | undefined
  readonly agentId: string | undefined
  /** Who the client is. */
  readonly token: string
}

interface Parts {
  readonly finder: AgentFinder
  lost(url: string, why: string): void
}

/** The agent that a request is about: the one named in its path, or the thread or chat of its body. */
export function agentIn(rest: string, body: string | undefined): string | undefined {
  const [, named] = rest.split('/')
  const fromPath = named === undefined || named === '' ? undefined : decoded(named)
  return [fromPath, ...idsIn(body)].find((id): id is string => typeof id === 'string' && isAgentId(id))
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function idsIn(body: string | undefined): readonly unknown[] {
  try {
    const value = JSON.parse(body ?? 'null') as { readonly threadId?: unknown; readonly id?: unknown } | null
    return value === null || 'jsonrpc' in value ? [] : [value.threadId, value.id]
  } catch {
    return []
  }
}

/** Answers a request with what the worker answers that has its agent. Rejects with `AGENT_UNREACHABLE` before anything was answered. */
export async function forwardRequest(parts: Parts, forwarding: Forwarding): Promise<void> {
  const { response } = forwarding
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the client has left')))
  for (let tries = 1; ; tries += 1) {
    const url = await workerOf(parts.finder, forwarding, gone.signal)
    try {
      return await send(url, forwarding, gone.signal)
    } catch (thrown) {
      if (gone.signal.aborted) return
      if (response.headersSent) return void response.destroy()
      parts.lost(url, messageOf(thrown))
      if (tries === mostTries) throw new RuntimeError('AGENT_UNREACHABLE', 'No worker answers this request.')
    }
  }
}

async function workerOf(finder: AgentFinder, { request, agentId }: Forwarding, signal: AbortSignal): Promise<string> {
  if (agentId !== undefined)
    return (await finder.find({ agentId, definition: undefined, failingSince: undefined }, signal)).url
  const urls = await finder.workers(request.socket.remoteAddress ?? '').catch(() => [])
  const mark = workerMark.exec(String(request.headers[sessionHeader] ?? ''))?.[1]
  const url = urls.find((one) => markOf(one) === mark) ?? urls[0]
  if (url === undefined) throw new RuntimeError('AGENT_UNREACHABLE', 'There is no worker.')
  return url
}

const markOf = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 12)

/** Resolves once the answer is over, and rejects if it breaks off or never begins. */
function send(url: string, { request, response, target, body, token }: Forwarding, signal: AbortSignal): Promise<void> {
  const to = new URL(url)
  const isSecure = to.protocol === 'wss:'
  const base = to.pathname.slice(0, to.pathname.lastIndexOf('/'))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const outgoing = (isSecure ? requestHttps : requestHttp)({
    host: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port === '' ? (isSecure ? 443 : 80) : to.port,
    method: request.method,
    path: target.isOwn ? `${base}${target.path}` : target.path,
    headers: {
      ...onwards(request.headers),
      host: to.host,
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
    signal,
    agent: false,
  })
  outgoing.setTimeout(answerMs, () => outgoing.destroy(new Error(`it did not answer within ${answerMs} ms`)))
  outgoing.on('error', reject)
  outgoing.on('response', (answer) => {
    outgoing.setTimeout(0)
    answer.on('error', reject)
    answer.on('close', () => (answer.complete ? resolve() : reject(new Error('its answer broke off'))))
    if (response.destroyed) return void answer.destroy()
    response.writeHead(answer.statusCode ?? 502, back(answer.headers, url))
    // A stream says nothing for a while after its head.
    response.flushHeaders()
    answer.pipe(response)
  })
  outgoing.end(body)
  return promise
}

function onwards(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !keptBack.has(name) && !name.startsWith('sec-'))
  const session = workerMark.exec(String(headers[sessionHeader] ?? ''))?.[2]
  return { ...Object.fromEntries(kept), ...(session === undefined ? {} : { [sessionHeader]: session }) }
}

function back(headers: IncomingHttpHeaders, url: string): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => name === 'content-length' || (!keptBack.has(name) && !name.startsWith('access-control-')),
  )
  const session = headers[sessionHeader]
  return {
    ...Object.fromEntries(kept),
    ...(session === undefined ? {} : { [sessionHeader]: `${markOf(url)}.${String(session)}` }),
  }
}

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { isAgentId } from '../../../../src/protocol/ids.ts'
import type { AgentFinder } from './agentFinder.ts'
import { awaitWorker, onConnected, workerRequest } from './workerRequest.ts'

/** Maximum number of workers that are tried. */
const mostTries = 3
/** Header of an MCP session. As a session belongs to one worker, a hash of the worker precedes its id. */
export const sessionHeader = 'mcp-session-id'
const workerMark = /^([0-9a-f]{12})\.(.*)$/

/** Headers that are not forwarded: those of a single connection, and those that identify the client, which only the gateway sets. */
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
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A request as it is forwarded to a worker. */
export interface Forwarding {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Path and query of the request: below the worker's own path, or at the path of another protocol. */
  readonly target: { readonly path: string; readonly isOwn: boolean }
  readonly body: string | undefined
  readonly agentId: string | undefined
  /** Returns the token that tells the worker at `url` who the client is. */
  readonly tokenFor: (url: string) => string
  /** Called once a worker has begun to answer. */
  readonly begun: () => void
}

interface Parts {
  readonly finder: AgentFinder
  readonly clock: Clock
  lost(url: string, why: string): void
}

/** Names that a request contains. */
export interface Named {
  /** Agent of the request: the one named in its path, or the thread or chat in its body. */
  readonly agentId: string | undefined
  /** Session that an MCP call continues. */
  readonly session: string | undefined
  /** True if the request stops a run of the agent. */
  readonly isStop: boolean
}

/** @throws RuntimeError `INVALID_OPTION` if the body names two agents, since a worker may choose the other one */
export function namedIn(method: string | undefined, rest: string, body: string | undefined): Named {
  const [, named] = rest.split('/')
  const fromPath = named === undefined || named === '' ? undefined : decoded(named)
  const read = readJson(body)
  const { threadId, id } = isRpc(read) ? {} : read
  if (threadId !== undefined && id !== undefined && threadId !== id) throw twoAgents()
  const asked = isRpc(read) ? read.params?.arguments?.session : undefined
  const isAgent = (value: unknown): value is string => typeof value === 'string' && isAgentId(value)
  return {
    agentId: [fromPath, threadId, id].find(isAgent),
    session: isAgent(asked) ? asked : undefined,
    isStop: method === 'DELETE' || isAbort(read),
  }
}

/** Returns true if a message of AG-UI aborts the run of its thread. */
export const isAbort = ({ forwardedProps }: Pick<Body, 'forwardedProps'>): boolean =>
  forwardedProps?.command === 'abort'

/** Error for a message that names two agents, so that it is ambiguous. */
export const twoAgents = (): RuntimeError =>
  new RuntimeError('INVALID_OPTION', 'The request names two agents, as "threadId" and as "id": give one.')

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

interface Body {
  readonly params?: { readonly arguments?: { readonly session?: unknown } | null } | null
  readonly threadId?: unknown
  readonly runId?: unknown
  readonly forwardedProps?: { readonly command?: unknown } | null
  readonly id?: unknown
  readonly trigger?: unknown
  readonly messages?: unknown
}

function readJson(body: string | undefined): Body {
  try {
    const value: unknown = JSON.parse(body ?? 'null')
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Returns true for an MCP message, whose `id` is the message's own. */
const isRpc = (body: Body): boolean => 'jsonrpc' in body

/**
 * Returns true if a request that one worker may have begun can be sent to another: it has no effect, or has an id
 * by which the agent's process recognizes it. Runs of AG-UI and messages sent with `useChat` have such an id.
 */
function isRepeatable({ request: { method }, agentId, body }: Forwarding): boolean {
  if (method === 'GET' || method === 'HEAD') return true
  const read = readJson(body)
  if (agentId === undefined || isRpc(read)) return false
  const { threadId, runId, forwardedProps, id, trigger, messages } = read
  if (agentId === threadId) return isText(runId) && (forwardedProps?.command ?? undefined) === undefined
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  if (agentId !== id || trigger === 'regenerate-message' || typeof last !== 'object' || last === null) return false
  return 'role' in last && last.role === 'user' && 'id' in last && isText(last.id)
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/**
 * Answers a request with the answer of the worker that has its agent. Rejects before anything was answered: with `AGENT_UNREACHABLE`,
 * and with `REQUEST_INTERRUPTED` when a worker was lost that may have begun a request which must not be repeated.
 */
export async function forwardRequest(parts: Parts, forwarding: Forwarding): Promise<void> {
  const { response } = forwarding
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the client has left')))
  for (let tries = 1; ; tries += 1) {
    const url = await workerOf(parts.finder, forwarding, gone.signal)
    const broken = await send(url, forwarding, parts, gone.signal)
    if (broken === undefined || gone.signal.aborted) return
    if (response.headersSent) return void response.destroy()
    parts.lost(url, broken.why)
    if (broken.mayHaveBegun && !isRepeatable(forwarding))
      throw new RuntimeError(
        'REQUEST_INTERRUPTED',
        'The worker was lost before it answered. It may have carried this request out.',
      )
    if (tries === mostTries) throw new RuntimeError('AGENT_UNREACHABLE', 'No worker answers this request.')
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

/** Reason for which an answer never began, or ended too soon. */
interface Broken {
  readonly why: string
  /** True if the request may have reached the worker. */
  readonly mayHaveBegun: boolean
}

/** Forwards the request. Resolves once the answer has ended, with the reason if it broke off or never began. */
function send(
  url: string,
  { request, response, target, body, tokenFor, begun }: Forwarding,
  { finder, clock }: Parts,
  signal: AbortSignal,
): Promise<Broken | undefined> {
  const { promise, resolve } = Promise.withResolvers<Broken | undefined>()
  const outgoing = workerRequest(url, {
    method: request.method ?? 'GET',
    target,
    headers: {
      ...onwards(request.headers),
      authorization: `Bearer ${tokenFor(url)}`,
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
    signal,
  })
  let mayHaveBegun = false
  const broken = ({ message }: Error): void => resolve({ why: message, mayHaveBegun })
  onConnected(outgoing, () => (mayHaveBegun = true))
  const stopWaiting = awaitWorker(url, outgoing, clock, (why) => void outgoing.destroy(new Error(why)))
  outgoing.on('error', broken)
  outgoing.on('close', stopWaiting)
  outgoing.on('response', (answer) => {
    stopWaiting()
    begun()
    finder.down.reached(url)
    answer.on('error', broken)
    answer.on('close', () => (answer.complete ? resolve(undefined) : broken(new Error('its answer broke off'))))
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

import { nanoid } from 'nanoid'
import { WebSocket } from 'ws'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { isAgentId } from '../../../../src/protocol/ids.ts'
import type { TextSocket } from '../../../bridge/src/server/textSocket.ts'
import { compression } from '../../../bridge/src/server/compression.ts'
import { outwardMessage } from '../../../bridge/src/server/outwardError.ts'
import { messageText } from '../../../bridge/src/server/readFrame.ts'
import type { AgentFinder } from './agentFinder.ts'
import type { Beginnings } from './beginnings.ts'
import { isAbort, twoAgents } from './forwardRequest.ts'

/** Time limit for a worker to accept a client, in milliseconds, and maximum size of a worker's message, in bytes. */
const handshakeMs = 3_000
const messageBytes = 300 * 1024 * 1024
/** Maximum number of remembered requests of either side, and of a client's kept first messages. */
const mostRequests = 1_000
const mostBeginnings = 16
/** Methods with which a protocol begins: they are sent to every worker that is used. */
const firstMethods: ReadonlySet<unknown> = new Set(['initialize', 'authenticate'])

/** A message of any of the protocols, with the fields that the gateway reads. */
interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly threadId?: unknown
  readonly runId?: unknown
  readonly requestId?: unknown
  readonly forwardedProps?: { readonly command?: unknown } | null
  readonly params?: { readonly sessionId?: unknown } | null
}

/** A connection to a worker. */
interface Worker {
  readonly socket: WebSocket
  /** Ids of the client's first requests, repeated to this worker: its answers to them are not passed on to the client. */
  readonly swallowed: Set<unknown>
  /** Messages to send once the worker has given these answers; `undefined`: it has. */
  waiting: string[] | undefined
}

interface Parts {
  readonly finder: AgentFinder
  readonly beginnings: Beginnings
  /** Name of the client, if its permit names one. */
  readonly who: string | undefined
  /** Path of the protocol, at the workers too. */
  readonly path: string
  /** Returns the token that tells the worker at `url` who the client is. */
  readonly tokenFor: (url: string) => string
  readonly highWaterBytes: number
  /** Number of messages that may wait until their worker is known. */
  readonly waiting: number
  lost(url: string, why: string): void
}

/**
 * Relays one client of another protocol over a WebSocket. Each message goes to the worker that has the session, thread or
 * chat it names, or else to the worker used last. When a worker is lost, the socket is closed, and the client reconnects.
 */
export class SocketRelay {
  readonly #client: TextSocket
  readonly #parts: Parts
  readonly #workers = new Map<string, Worker>()
  readonly #beginnings: { readonly id: unknown; readonly text: string }[] = []
  /** Requests of workers to the client, by the ids under which the client got them. */
  readonly #asked = new Map<string, { readonly url: string; readonly id: unknown }>()
  /** Workers of the newest requests that later messages may name. */
  readonly #requests = new Map<unknown, string>()
  readonly #closed = new AbortController()
  /** Runs and chats that no worker has begun to answer, by the id in their answers. */
  readonly #unbegun = new Map<unknown, () => void>()
  /** Key by which a worker is chosen for this client. */
  readonly #id = nanoid()
  #waiting = 0
  #last: string | undefined
  #order: Promise<void> = Promise.resolve()
  #count = 0

  constructor(client: TextSocket, parts: Parts) {
    this.#client = client
    this.#parts = parts
    client.onText((text) => {
      this.#waiting += 1
      if (this.#waiting > parts.waiting) return client.close(closeCodes.flooded, 'too many messages')
      const message = messageIn(text)
      const isBegun = this.#enter(message)
      this.#order = this.#order
        .then(() => isBegun)
        .then(() => this.#take(text, message))
        .finally(() => (this.#waiting -= 1))
    })
    client.onClose(() => {
      this.#closed.abort(new Error('the client has left'))
      for (const { socket } of this.#workers.values()) socket.close(1000)
      this.#allBegun()
    })
  }

  /** Adds a run or chat that begins. For a stop, returns a promise that resolves once earlier runs and chats have begun. */
  #enter(message: Message | undefined): Promise<void> | undefined {
    const agentId = message?.jsonrpc === undefined ? agentNamed(message) : undefined
    if (message === undefined || agentId === undefined) return undefined
    const { beginnings, who } = this.#parts
    if (isAbort(message)) return beginnings.before({ agentId, who }, this.#closed.signal)
    const ids = idsIn(message).filter((id) => !this.#unbegun.has(id))
    if (ids.length === 0) return undefined
    const begun = beginnings.enter({ agentId, who })
    for (const id of ids) this.#unbegun.set(id, begun)
    while (this.#unbegun.size > mostRequests) this.#begunWith(this.#unbegun.keys().next().value)
    return undefined
  }

  #allBegun(): void {
    for (const begun of this.#unbegun.values()) begun()
    this.#unbegun.clear()
  }

  async #take(text: string, message: Message | undefined): Promise<void> {
    const { signal } = this.#closed
    if (signal.aborted) return
    try {
      if (message?.jsonrpc !== undefined && message.method === undefined) return this.#answer(message)
      const known = this.#requests.get(message?.requestId)
      const url = known ?? (await this.#workerOf(agentIn(message), signal))
      // The client may have left meanwhile.
      if (signal.aborted) return
      if (url === undefined) return this.#client.close(closeCodes.stuck, 'there is no worker')
      this.#send(url, text)
      if (firstMethods.has(message?.method)) this.#beginnings.push({ id: message?.id, text })
      if (this.#beginnings.length > mostBeginnings) this.#beginnings.shift()
      this.#last = url
      if (message?.requestId !== undefined) this.#requests.set(message.requestId, url)
      if (this.#requests.size > mostRequests) this.#requests.delete(this.#requests.keys().next().value)
    } catch (thrown) {
      if (!signal.aborted) this.#client.close(closeCodes.stuck, outwardMessage(thrown))
    }
  }

  /** Passes an answer to the worker that asked. An answer to no known request is dropped, since the worker could mistake it for another client's. */
  #answer(message: Message): void {
    const id = String(message.id)
    const asked = this.#asked.get(id)
    if (asked === undefined) return
    this.#asked.delete(id)
    this.#send(asked.url, JSON.stringify({ ...message, id: asked.id }))
  }

  async #workerOf(agentId: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { finder } = this.#parts
    if (agentId === undefined) return this.#last ?? (await finder.workers(this.#id))[0]
    return (await finder.find({ agentId, definition: undefined, failingSince: undefined }, signal)).url
  }

  #send(url: string, text: string): void {
    const worker = this.#workers.get(url) ?? this.#open(url)
    if (worker.waiting === undefined) worker.socket.send(text, () => {})
    else worker.waiting.push(text)
  }

  #open(url: string): Worker {
    const { path, tokenFor } = this.#parts
    const socket = new WebSocket(new URL(path, url).href, {
      headers: { authorization: `Bearer ${tokenFor(url)}` },
      handshakeTimeout: handshakeMs,
      maxPayload: messageBytes,
      perMessageDeflate: compression,
    })
    const worker: Worker = { socket, swallowed: new Set(this.#beginnings.map(({ id }) => id)), waiting: [] }
    this.#workers.set(url, worker)
    const begun = this.#beginnings.map(({ text }) => text)
    socket.on('open', () => {
      for (const text of begun) socket.send(text, () => {})
      this.#begun(worker)
    })
    let why: string | undefined
    socket.on('message', (data) => this.#heard(url, messageText(data), worker))
    socket.on('error', (error) => (why = error.message))
    socket.on('close', (code, reason) => {
      this.#workers.delete(url)
      this.#allBegun()
      if (this.#closed.signal.aborted) return
      if (why !== undefined) this.#parts.lost(url, why)
      const isOwn = code >= 4_000 && code < 5_000
      this.#client.close(isOwn ? code : closeCodes.stuck, isOwn ? reason.toString() : 'the worker is gone: try again')
    })
    return worker
  }

  #begun(worker: Worker): void {
    if (worker.swallowed.size > 0) return
    const waiting = worker.waiting ?? []
    worker.waiting = undefined
    for (const text of waiting) worker.socket.send(text, () => {})
  }

  #heard(url: string, text: string, worker: Worker): void {
    if (this.#unbegun.size > 0) this.#hasBegun(messageIn(text))
    const message = text.includes('"jsonrpc"') ? messageIn(text) : undefined
    if (message !== undefined && message.method === undefined && worker.swallowed.delete(message.id))
      return this.#begun(worker)
    const isRequest = message?.method !== undefined && message.id !== undefined
    this.#pass(worker, isRequest ? this.#renamed(url, message) : text)
  }

  #hasBegun(message: Message = {}): void {
    const ids = idsIn(message)
    // A refusal of something unreadable names none.
    if (ids.length === 0) return this.#allBegun()
    for (const id of ids) this.#begunWith(id)
  }

  #begunWith(id: unknown): void {
    this.#unbegun.get(id)?.()
    this.#unbegun.delete(id)
  }

  /** Gives a worker's request a new id, because two workers may use the same ids. */
  #renamed(url: string, message: Message): string {
    const id = `gateway-${++this.#count}`
    this.#asked.set(id, { url, id: message.id })
    if (this.#asked.size > mostRequests) this.#asked.delete(this.#asked.keys().next().value!)
    return JSON.stringify({ ...message, id })
  }

  #pass({ socket }: Worker, text: string): void {
    const isFull = this.#client.bufferedAmount > this.#parts.highWaterBytes
    if (isFull) socket.pause()
    this.#client.send(text, () => {
      if (isFull) socket.resume()
    })
  }
}

function messageIn(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the ids of a run or chat by which its answers may name it. */
const idsIn = ({ runId, requestId }: Message): readonly unknown[] => [runId, requestId].filter((id) => id !== undefined)

/** Returns the agent that a message is about. @throws RuntimeError `INVALID_OPTION` if the message names two */
function agentIn(message: Message | undefined): string | undefined {
  const { threadId, id: chat } = message ?? {}
  const isRpc = message?.jsonrpc !== undefined
  if (!isRpc && threadId !== undefined && chat !== undefined && threadId !== chat) throw twoAgents()
  return agentNamed(message)
}

/** Returns the first agent that a message names. */
function agentNamed(message: Message | undefined): string | undefined {
  const { threadId, id: chat } = message ?? {}
  const isRpc = message?.jsonrpc !== undefined
  const id = isRpc ? message.params?.sessionId : (threadId ?? chat)
  return typeof id === 'string' && isAgentId(id) ? id : undefined
}

import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import { refusalOf } from './offerStates.ts'
import type { WatchedStates } from './stateResources.ts'

export const listenMethod = 'subscriptions/listen'

/** Request of a client of 2026-07-28 to be notified of changes. */
interface Listen {
  readonly id: RequestId
  readonly uris: readonly string[]
}

const listenSchema = lazily(() =>
  z.looseObject({
    id: z.union([z.string(), z.number()]),
    method: z.literal(listenMethod),
    params: z.looseObject({ notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()).optional() }) }),
  }),
)

/** Reads such a request from a message; `undefined` for any other, which the SDK answers. */
export function listenIn(message: unknown): Listen | undefined {
  const read = listenSchema().safeParse(message)
  if (!read.success) return undefined
  const { id, params } = read.data
  return { id, uris: params.notifications.resourceSubscriptions ?? [] }
}

/** Returns the answer to a refused request. */
export const refusal = (id: RequestId, access: AgentAccess, thrown: unknown): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_602, message: refusalOf(access, thrown) },
})

interface Connection {
  readonly access: AgentAccess
  /** Returns the states of which this client is notified from now on. */
  watch(): WatchedStates
}

/**
 * Transport of one client, which begins to watch the states that the client asks for. The SDK answers
 * these requests itself without naming the resource to the server, so they are read here first.
 */
export class ListeningTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  readonly #inner: Transport
  readonly #connection: Connection
  readonly #listens = new Map<RequestId, WatchedStates>()

  constructor(inner: Transport, connection: Connection) {
    this.#inner = inner
    this.#connection = connection
  }

  start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
    this.#inner.onmessage = (message, extra) => void this.#take(message, extra)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
    this.#inner.onerror = (error) => this.onerror?.(error)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
    this.#inner.onclose = () => {
      for (const id of this.#listens.keys()) this.#end(id)
      this.onclose?.()
    }
    return this.#inner.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #take(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): Promise<void> {
    const listen = listenIn(message)
    if (listen !== undefined && !(await this.#watch(listen))) return
    const cancelled = 'method' in message && message.method === 'notifications/cancelled' ? message.params : undefined
    if (cancelled !== undefined) this.#end(cancelled['requestId'] as RequestId)
    this.onmessage?.(message, extra)
  }

  /** Resolves with true once every change is reported, so that none is missed after the SDK's confirmation. */
  async #watch({ id, uris }: Listen): Promise<boolean> {
    const { access, watch } = this.#connection
    const states = watch()
    this.#end(id)
    this.#listens.set(id, states)
    try {
      for (const uri of uris) await states.add(access, uri)
    } catch (thrown) {
      this.#end(id)
      await this.#inner.send(refusal(id, access, thrown)).catch(() => {})
      return false
    }
    const isWanted = this.#listens.get(id) === states
    if (!isWanted) states.close()
    return isWanted
  }

  #end(id: RequestId): void {
    this.#listens.get(id)?.close()
    this.#listens.delete(id)
  }
}

import type * as Clients from '@restatedev/restate-sdk-clients'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { errorCodes, messageOf, RuntimeError, type ErrorCode } from '../../../../src/protocol/errors.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { remoteError } from '../../../bridge/src/client/answers.ts'

/** A request to an agent's object. */
export interface Asked {
  readonly agentId: string
  /** Name of the handler. */
  readonly verb: string
  readonly body: object
  /** Id of the request. A repeated request with the same id is answered but not carried out again. */
  readonly requestId: string
  /** Milliseconds for which the engine holds the request before carrying it out. */
  readonly delayMs?: number
}

export interface IngressParts {
  readonly clients: typeof Clients
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Name of the virtual object. */
  readonly name: string
  readonly clock: Clock
  /** Milliseconds for which requests to an engine that does not answer are repeated. */
  readonly patienceMs: number
  /** True if the object will be registered with the engine sooner or later: until the engine knows it, requests are repeated. */
  readonly isExpected?: boolean
}

/** Maximum size of a body, in bytes: an engine takes 32 MiB in all, and keeps the request twice. */
const mostBytes = 15 * 1024 * 1024
/** Longest single wait for an answer, in milliseconds: HTTP clients give up after five minutes without one. */
const mostWaitMs = 4 * 60_000
const leastPauseMs = 100
const mostPauseMs = 2_000

/** Client for the address at which an engine takes requests. */
export class Ingress {
  readonly #parts: IngressParts
  readonly #ingress: Clients.Ingress
  readonly #closing = new AbortController()
  /** True if the engine had the object when it last answered; an engine that has just started does not know it for a moment. */
  #hasObject = false

  constructor(parts: IngressParts) {
    this.#parts = parts
    const { clients, url, headers } = parts
    this.#ingress = clients.connect({ url, headers: { ...headers }, retry: false })
  }

  /**
   * Sends a request and waits for its outcome, however long that takes. Reconnects if the connection breaks, since the
   * engine recognizes the request by its id.
   *
   * @throws RuntimeError `ENGINE_UNREACHABLE`, `ENGINE_REFUSED`, `ENGINE_LIMIT`, `BRIDGE_CLOSED`; errors of its handler
   */
  async call<T>(asked: Asked): Promise<T> {
    const { clients } = this.#parts
    const { requestId, delayMs } = asked
    const request = this.#requestOf(asked)
    if (delayMs !== undefined) await this.send(asked)
    return await this.#patiently((signal) =>
      this.#ingress.call<object, T>({
        ...request,
        opts: clients.rpc.opts<object, T>({ idempotencyKey: requestId, signal }),
      }),
    )
  }

  /** Resolves once the engine has a request, whatever its outcome. Rejects as `call`. */
  async send(asked: Asked): Promise<void> {
    const { requestId: idempotencyKey, delayMs } = asked
    const request = this.#requestOf(asked)
    const { sendOpts } = this.#parts.clients.rpc
    await this.#patiently((signal) =>
      this.#ingress.send({
        ...request,
        opts: sendOpts({ idempotencyKey, signal, ...(delayMs === undefined ? {} : { delay: delayMs }) }),
      }),
    )
  }

  #requestOf({ agentId, verb, body }: Asked) {
    const bytes = Buffer.byteLength(JSON.stringify(body))
    if (bytes > mostBytes)
      throw new RuntimeError('ENGINE_LIMIT', `"${verb}" takes ${bytes} bytes, and ${mostBytes} is the most.`)
    return { service: this.#parts.name, handler: verb, key: agentId, parameter: body }
  }

  /** Closes the client; waiting calls reject with `BRIDGE_CLOSED`. */
  close(): void {
    this.#closing.abort()
  }

  async #patiently<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, patienceMs, isExpected = false } = this.#parts
    let since: number | undefined
    let pauseMs = leastPauseMs
    for (;;) {
      const waited = AbortSignal.timeout(mostWaitMs)
      const askedAt = clock.now()
      try {
        const answer = await ask(AbortSignal.any([this.#closing.signal, waited]))
        this.#hasObject = true
        return answer
      } catch (thrown) {
        if (this.#closing.signal.aborted) throw new RuntimeError('BRIDGE_CLOSED', 'The client is closed.')
        // An engine that has held the request for long was there: patience begins anew.
        if (waited.aborted || (wasConnected(thrown) && clock.now() - askedAt > mostPauseMs)) {
          since = undefined
          pauseMs = leastPauseMs
        }
        // It works on: whoever asks again is told once it is done.
        if (waited.aborted) continue
        const refusal = this.#refusalOf(thrown)
        const isSoon = isExpected || this.#hasObject || since !== undefined
        const mayPass = refusal === undefined || (isSoon && this.#isUnknown(thrown))
        if (!mayPass) throw refusal
        since ??= clock.now()
        if (clock.now() - since + pauseMs > patienceMs) {
          this.#hasObject = false
          throw refusal ?? this.#unreachable(thrown)
        }
      }
      await pause(pauseMs, clock, this.#closing.signal)
      pauseMs = Math.min(pauseMs * 2, mostPauseMs)
    }
  }

  #unreachable(thrown: unknown): RuntimeError {
    const why = thrown instanceof Error && thrown.cause !== undefined ? messageOf(thrown.cause) : messageOf(thrown)
    return new RuntimeError('ENGINE_UNREACHABLE', `No engine takes requests at ${this.#parts.url}: ${why}.`, {
      cause: thrown,
    })
  }

  /** Returns the error if the next attempt would fail the same way; `undefined` if it may succeed. */
  #refusalOf(thrown: unknown): Error | undefined {
    // Only a connection that fails has a cause; anything else is a mistake.
    if (!(thrown instanceof this.#parts.clients.HttpCallError))
      return thrown instanceof TypeError && thrown.cause === undefined ? thrown : undefined
    const { status, responseText } = thrown
    if (passing.has(status)) return undefined
    const { code, message } = answerIn(responseText)
    if (code !== undefined) return remoteError({ code, message })
    if (status === 413) return new RuntimeError('ENGINE_LIMIT', `The engine takes no request of this size: ${message}`)
    const what = status === 404 ? `It has no object "${this.#parts.name}" that takes this` : `It answered ${status}`
    return new RuntimeError('ENGINE_REFUSED', `${what}: ${message}`)
  }

  /** Returns true if the engine does not know the object, or not yet. */
  #isUnknown(thrown: unknown): boolean {
    if (!(thrown instanceof this.#parts.clients.HttpCallError) || thrown.status !== 404) return false
    return answerIn(thrown.responseText).code === undefined
  }
}

/** Status codes of an engine that has just started, or is overloaded. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** Returns true if an established connection broke. */
const wasConnected = (thrown: unknown): boolean =>
  thrown instanceof TypeError && broken.has((thrown.cause as { readonly code?: string } | undefined)?.code ?? '')

const broken: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET'])

/** Reads the code and the message of an error answer. */
function answerIn(text: string): { readonly code?: ErrorCode; readonly message: string } {
  try {
    const { message = text, metadata } = JSON.parse(text) as { message?: string; metadata?: { code?: ErrorCode } }
    const code = metadata?.code
    return code !== undefined && errorCodes.includes(code) ? { code, message } : { message }
  } catch {
    return { message: text.slice(0, 500) || 'nothing' }
  }
}

import { signal } from '@preact/signals'
import { connect, type Client, type ClientStatus, type ErrorInfo } from '../../../../../bridge/src/client/index.ts'
import type { ConnectOptions } from '../../../../../bridge/src/client/index.ts'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { Right, Role } from '../../../../../wire/src/rights.ts'

/** State of a connection. `refused`: the server requires a token, or another one; `expired`: the link has expired. */
export type ConnectionStatus = ClientStatus | 'refused' | 'expired'

/** Options of a connection. */
export interface ConnectionOptions {
  readonly url: string
  readonly clock: Clock
  readonly token?: string | undefined
  readonly webSocket?: ConnectOptions['webSocket']
}

/** An error as the page shows it. */
interface ShownError extends ErrorInfo {
  readonly key: number
  /** Id of the agent that the error is about; `null` if none. */
  readonly of: string | null
}

/** Maximum number of errors that are kept. */
const mostErrors = 20

/** The only connection of the page, and its state, as signals. */
export class Connection {
  readonly status = signal<ConnectionStatus>('connecting')
  readonly role = signal<Role | null>(null)
  /** Function that tells if the token has a right. Replaced at each welcome. */
  readonly may = signal<(right: Right) => boolean>(() => false)
  readonly definitions = signal<readonly string[]>([])
  /** Errors that no other part of the page shows, newest first; each stays until a person dismisses it. */
  readonly errors = signal<readonly ShownError[]>([])
  readonly client: Client
  readonly url: string
  /** True if the connection's token comes from a read-only link. */
  readonly #isLink: boolean
  #isLeft = false
  #errorCount = 0

  constructor({ url, clock, token, webSocket }: ConnectionOptions) {
    this.url = url
    this.#isLink = token?.startsWith('share.') === true
    this.client = connect(url, {
      clock,
      ...(token === undefined ? {} : { token }),
      ...(webSocket === undefined ? {} : { webSocket }),
    })
    this.client.onStatus((status) => this.#become(status))
    this.client.onDefinitions((definitions) => (this.definitions.value = definitions))
    this.client.onError((error) => (error.code === 'BRIDGE_EXPIRED' ? this.#refused(error) : this.report(error)))
    this.client.ready.catch((error: unknown) => this.#refused(error as ErrorInfo))
  }

  /** Shows an error to the person. `of`: id of the agent that the error is about. */
  report({ code, message }: ErrorInfo, of: string | null = null): void {
    const error = { code, message, key: ++this.#errorCount, of }
    const others = this.errors.value.filter((other) => other.message !== message)
    this.errors.value = [error, ...others].slice(0, mostErrors)
  }

  /** Removes the errors about one agent, when another one is shown. */
  dismissOf(agentId: string): void {
    this.errors.value = this.errors.value.filter(({ of }) => of !== agentId)
  }

  dismiss(key: number): void {
    this.errors.value = this.errors.value.filter((error) => error.key !== key)
  }

  /** Closes the connection. Idempotent. */
  close(): void {
    this.#isLeft = true
    this.client.close()
  }

  #become(status: ClientStatus): void {
    if (this.status.value === 'refused' || this.status.value === 'expired') return
    // A server that was started anew does not know it, and lets nobody try again.
    this.status.value = status === 'closed' && this.#isLink && !this.#isLeft ? 'expired' : status
    if (status !== 'open') return
    this.role.value = this.client.role ?? null
    this.may.value = (right) => this.client.may(right)
    this.definitions.value = this.client.definitions
  }

  #refused(error: ErrorInfo): void {
    if (error.code === 'BRIDGE_EXPIRED' || (error.code === 'BRIDGE_UNAUTHORISED' && this.#isLink))
      this.status.value = 'expired'
    else if (error.code === 'BRIDGE_UNAUTHORISED') this.status.value = 'refused'
  }
}

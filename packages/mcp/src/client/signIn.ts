import { messageOf } from '../../../../src/protocol/errors.ts'
import type { McpAuth } from './options.ts'
import type { Server } from './server.ts'

/** A provider that learns when a person returns from signing in, as that of `fileAuth` does. */
export interface SignsIn {
  /** Resolves with the parameters of the address to which the person was sent back. Rejects when `signal` is aborted. */
  signedIn(signal: AbortSignal): Promise<URLSearchParams>
}

/** Waits for a person's sign-in, independently of the connection. */
export class SignIn {
  readonly #auth: (McpAuth & Partial<SignsIn>) | undefined
  readonly #host: { signedIn(): void; debug(message: string): void }
  readonly #closed = new AbortController()
  /** Token that the server refused. */
  #refused: string | undefined
  #waiting: Promise<void> | undefined
  #isOver = false

  constructor(auth: McpAuth | undefined, host: { signedIn(): void; debug(message: string): void }) {
    this.#auth = auth
    this.#host = host
  }

  /** True while a person signs in. Another request would start over, and invalidate the person's sign-in. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** True if the sign-in failed because the person refused, or no token was issued. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Called when a server refused access and the person has been shown where to sign in. */
  wait(server: Server): void {
    if (this.#auth === undefined || this.isWaiting) return
    this.#isOver = false
    this.#waiting = this.#wait(server, this.#auth).finally(() => (this.#waiting = undefined))
  }

  async #wait(server: Server, auth: McpAuth & Partial<SignsIn>): Promise<void> {
    try {
      this.#refused = await this.#token()
      const parameters = await auth.signedIn?.(this.#closed.signal)
      if (parameters === undefined) return
      await server.finishAuth(parameters)
      this.#host.signedIn()
    } catch (thrown) {
      this.#isOver = true
      this.#host.debug(`nobody signed in: ${messageOf(thrown)}`)
    }
  }

  /** Checks for a new token from a sign-in elsewhere. Never rejects. */
  async look(): Promise<void> {
    const token = await this.#token()
    if (token !== undefined && token !== this.#refused) this.#host.signedIn()
  }

  /** Resolves once nothing waits for the sign-in. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the connection was closed'))
    await this.#waiting
  }

  async #token(): Promise<string | undefined> {
    try {
      return (await this.#auth?.tokens())?.access_token
    } catch {
      return undefined
    }
  }
}

import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Addresses that the servers of a store have announced, the latest last. A server that closes withdraws only its own. */
const announced = new WeakMap<Store, string[]>()

/** Announces, in a store that supports it, the address of the agents whose logs this process has open. */
export class Announcing {
  readonly #store: Store
  readonly #advertise: string | false | undefined
  readonly #failed: (error: unknown) => void
  #url: string | undefined

  /** Takes `advertise`: the address to announce if it differs from the address the server listens at, or `false` for none. */
  constructor(store: Store, advertise: string | false | undefined, failed: (error: unknown) => void) {
    this.#store = store
    this.#advertise = advertise
    this.#failed = failed
  }

  /** Announces that the server listens at `url`; empty if no address can be reached by others. Never rejects. */
  async at(url: string): Promise<void> {
    const said = this.#advertise ?? url
    if (said === false || said === '' || this.#url !== undefined) return
    this.#url = said
    const urls = announced.get(this.#store) ?? []
    announced.set(this.#store, urls)
    urls.push(said)
    await this.#say(said)
  }

  /** Withdraws the announcement. Never rejects. */
  async end(): Promise<void> {
    const urls = announced.get(this.#store)
    if (this.#url === undefined || urls === undefined) return
    urls.splice(urls.lastIndexOf(this.#url), 1)
    this.#url = undefined
    await this.#say(urls.at(-1))
  }

  async #say(url: string | undefined): Promise<void> {
    await this.#store.announce?.(url).catch((error: unknown) => this.#failed(error))
  }
}

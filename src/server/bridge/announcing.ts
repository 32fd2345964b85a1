import type { Store } from '../../protocol/store.ts'

/** What the servers of a store have announced, the last one at the end: who closes first takes only its own back. */
const announced = new WeakMap<Store, string[]>()

/** Says in a store, where that keeps it, at which address the agents are reached whose logs this process has open. */
export class Announcing {
  readonly #store: Store
  readonly #advertise: string | false | undefined
  readonly #failed: (error: unknown) => void
  #url: string | undefined

  /** `advertise`: the address to say, if it is another than where the server listens; `false`: none. */
  constructor(store: Store, advertise: string | false | undefined, failed: (error: unknown) => void) {
    this.#store = store
    this.#advertise = advertise
    this.#failed = failed
  }

  /** The server listens at `url`; empty: nowhere that others reach. Never rejects. */
  async at(url: string): Promise<void> {
    const said = this.#advertise ?? url
    if (said === false || said === '' || this.#url !== undefined) return
    this.#url = said
    const urls = announced.get(this.#store) ?? []
    announced.set(this.#store, urls)
    urls.push(said)
    await this.#say(said)
  }

  /** Takes it back. Never rejects. */
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

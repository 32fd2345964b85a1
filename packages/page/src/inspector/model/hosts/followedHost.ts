import { signal } from '@preact/signals'
import type { Client, ErrorInfo, HostLine, HostView } from '../../../../../bridge/src/client/index.ts'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'

/** Maximum number of a machine's records that are shown. */
const mostRecords = 1_000
/** Pauses before the server is asked again, in milliseconds. Asking for a closed machine opens it. */
const pauses = { active: 100, closed: 2_000 } as const

/** A machine as the page knows it. */
export interface HostState {
  readonly host: HostView | null
  /** Records in the order of the log. */
  readonly records: readonly HostLine[]
  /** Error that ended the following of the machine; `null` if there is none. */
  readonly error: ErrorInfo | null
}

/** Follows a machine that a server keeps, until the machine ends. Close it. */
export class FollowedHost {
  readonly state = signal<HostState>({ host: null, records: [], error: null })
  readonly #id: string
  readonly #client: Pick<Client, 'host'>
  readonly #clock: Clock
  #isOver = false
  #cancel = (): void => {}

  constructor(client: Pick<Client, 'host'>, id: string, clock: Clock) {
    this.#client = client
    this.#id = id
    this.#clock = clock
    void this.#ask()
  }

  /** Asks the server once more after a failure. */
  again(): void {
    if (this.state.value.error === null) return
    this.state.value = { ...this.state.value, error: null }
    void this.#ask()
  }

  /** Stops asking the server. Idempotent. */
  close(): void {
    this.#isOver = true
    this.#cancel()
  }

  async #ask(): Promise<void> {
    const { host: known } = this.state.value
    try {
      const told = await this.#client.host(this.#id).history(known === null ? {} : { after: known.seq })
      if (!this.#isOver) this.#take(told)
    } catch (thrown) {
      const { code = 'INTERNAL', message } = thrown as { code?: string; message: string }
      if (!this.#isOver) this.state.value = { ...this.state.value, error: { code, message } }
    }
  }

  #take({ host, records }: { readonly host: HostView; readonly records: readonly HostLine[] }): void {
    const all = [...this.state.value.records, ...records]
    this.state.value = { host, records: all.slice(-mostRecords), error: null }
    const { status } = host
    if (status === 'active' || status === 'closed')
      this.#cancel = this.#clock.after(pauses[status], () => void this.#ask())
  }
}

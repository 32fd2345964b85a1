import { signal } from '@preact/signals'

/** State of the permission for notifications. `missing`: the browser has none; `default`: the person was not asked. */
export type NoticeState = 'granted' | 'denied' | 'default' | 'missing'

/** The browser's notifications. */
export interface NoticePorts {
  state(): NoticeState
  /** Asks the person, and resolves with the answer. */
  ask(): Promise<NoticeState>
  show(text: string): void
  /** Returns true if the page is out of sight. */
  isHidden(): boolean
}

const none: NoticePorts = { state: () => 'missing', ask: async () => 'missing', show: () => {}, isHidden: () => false }

/** Notifies a person who looks elsewhere of waiting items, if the person asked for that. */
export class Notices {
  readonly state
  /** True if permission was asked for on this page and refused; the page says so once. */
  readonly wasRefused = signal(false)
  readonly #ports: NoticePorts
  #known: ReadonlySet<string> = new Set()

  constructor(ports: NoticePorts = none) {
    this.#ports = ports
    this.state = signal(ports.state())
  }

  /** Asks for permission, unless it was given or refused before. Never rejects. */
  async ask(): Promise<void> {
    if (this.state.value !== 'default') return
    const said = await this.#ports.ask().catch(() => 'denied' as const)
    this.state.value = said
    this.wasRefused.value = said !== 'granted'
  }

  /** Takes the keys of everything that waits, and notifies the person of new ones while the page is out of sight. */
  see(waiting: readonly string[]): void {
    const isNew = waiting.some((key) => !this.#known.has(key))
    this.#known = new Set(waiting)
    if (!isNew || this.state.value !== 'granted' || !this.#ports.isHidden()) return
    this.#ports.show(waiting.length === 1 ? '1 call is waiting for you' : `${waiting.length} calls are waiting for you`)
  }
}

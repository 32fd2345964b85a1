import { signal } from '@preact/signals'

/** `missing`: the browser has none; `default`: nobody was asked. */
export type NoticeState = 'granted' | 'denied' | 'default' | 'missing'

/** The browser's notifications. */
export interface NoticePorts {
  state(): NoticeState
  /** Asks the person; what they said. */
  ask(): Promise<NoticeState>
  show(text: string): void
  /** Whether the page is out of sight. */
  isHidden(): boolean
}

const none: NoticePorts = { state: () => 'missing', ask: async () => 'missing', show: () => {}, isHidden: () => false }

/** Tells a person who looks elsewhere that something waits for them, if they asked for it. */
export class Notices {
  readonly state
  /** Whether it was asked for on this page and refused: that is said once. */
  readonly wasRefused = signal(false)
  readonly #ports: NoticePorts
  #known: ReadonlySet<string> = new Set()

  constructor(ports: NoticePorts = none) {
    this.#ports = ports
    this.state = signal(ports.state())
  }

  /** Asks for permission; one that was refused is not asked for again. Never rejects. */
  async ask(): Promise<void> {
    if (this.state.value !== 'default') return
    const said = await this.#ports.ask().catch(() => 'denied' as const)
    this.state.value = said
    this.wasRefused.value = said !== 'granted'
  }

  /** Takes what waits, by key, and tells of what is new among it while the page is out of sight. */
  see(waiting: readonly string[]): void {
    const isNew = waiting.some((key) => !this.#known.has(key))
    this.#known = new Set(waiting)
    if (!isNew || this.state.value !== 'granted' || !this.#ports.isHidden()) return
    this.#ports.show(waiting.length === 1 ? '1 call waits for you' : `${waiting.length} calls wait for you`)
  }
}

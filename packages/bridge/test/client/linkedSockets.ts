import type { CheckedOptions } from '../../src/client/connectOptions.ts'
import { Link } from '../../src/client/reconnectingLink.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'

const welcome = {
  type: 'welcome',
  sessionId: 's',
  role: 'admin',
  definitions: [],
  limits: { maxFrameBytes: 1, framesPerSecond: 1, maxSubscriptions: 1 },
}

type Event = { readonly data?: unknown; readonly code?: number; readonly message?: string }

/** A link whose sockets do what the case says. */
export function linked(options: Partial<CheckedOptions> = {}, sessionKey?: string) {
  const clock = simulatedClock()
  const sockets: Socket[] = []
  class Socket {
    readonly sent: string[] = []
    readonly protocols: readonly string[]
    closed: number | undefined
    isBroken = false
    readonly #listeners = new Map<string, (event: Event) => void>()

    constructor(_: string, protocols: readonly string[]) {
      this.protocols = protocols
      sockets.push(this)
    }

    addEventListener(type: string, listener: (event: Event) => void): void {
      this.#listeners.set(type, listener)
    }

    send(text: string): void {
      if (this.isBroken) throw new Error('it is closing')
      this.sent.push(text)
    }

    close(code: number): void {
      this.closed = code
      if (this.isBroken) throw new Error('it never opened')
    }

    happens(type: string, event: Event = {}): void {
      this.#listeners.get(type)?.(event)
    }

    says(...frames: readonly object[]): void {
      this.happens('message', { data: JSON.stringify(frames.length === 1 ? frames[0] : frames) })
    }
  }
  const told: string[] = []
  const state = { onReceived: (_: string): void => {}, onReport: (): void => {} }
  const checked = {
    url: 'ws://there',
    token: undefined,
    webSocket: Socket,
    retry: { baseMs: 100, maxMs: 1_000 },
    connectTimeoutMs: undefined,
    signal: undefined,
    clock,
    random: () => 1,
    ...options,
  } as unknown as CheckedOptions
  const link: Link = new Link(
    checked,
    { sessionId: 's', sessionKey },
    {
      opened: () => void told.push('opened'),
      received: ({ type }) => {
        told.push(`received ${type}`)
        state.onReceived(type)
      },
      lost: () => void told.push('lost'),
      closed: ({ code }) => void told.push(`closed ${code}`),
      changed: (status) => void told.push(status),
      report: ({ code, message }) => {
        told.push(`${code}: ${message}`)
        state.onReport()
      },
    },
  )
  const take = (): string[] => told.splice(0)
  const last = (): Socket => sockets.at(-1)!
  /** Lets it in. */
  const lets = (): void => {
    last().happens('open')
    last().says(welcome)
  }
  return { link, clock, sockets, take, last, lets, state }
}

import type { ServerSocket } from '../server/serverSocket.ts'

/** Parts of a WebSocket that a client uses. */
export interface ClientSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void
}

interface SocketPair {
  readonly client: ClientSocket
  readonly server: ServerSocket
}

/** The close code of a connection that ended without a goodbye. */
const brokenCode = 1006
/** The close code of a connection that is no longer needed; a client that names no code closes with it. */
const doneCode = 1000

/**
 * One direction of the pair. Texts are delivered in order, each in a separate turn of the event loop, so that neither end blocks timers or the
 * screen.
 */
class Direction {
  readonly #deliver: (text: string) => void
  readonly #waiting: { readonly text: string; readonly done: (() => void) | undefined }[] = []
  #goodbye: (() => void) | undefined
  #isCut = false
  #isMoving = false
  /** Length of the texts that were sent and have not arrived, in UTF-16 units. */
  waiting = 0

  constructor(deliver: (text: string) => void) {
    this.#deliver = deliver
  }

  send(text: string, done?: () => void): void {
    if (this.#isCut || this.#goodbye !== undefined) return done?.()
    this.#waiting.push({ text, done })
    this.waiting += text.length
    this.#move()
  }

  /** Calls `goodbye` once everything sent before has arrived. */
  end(goodbye: () => void): void {
    if (this.#isCut || this.#goodbye !== undefined) return
    this.#goodbye = goodbye
    this.#move()
  }

  /** Discards the texts that have not arrived. */
  cut(): void {
    this.#isCut = true
    this.waiting = 0
    for (const { done } of this.#waiting.splice(0)) done?.()
  }

  #move(): void {
    if (this.#isMoving || this.#isCut) return
    this.#isMoving = true
    setImmediate(() => {
      this.#isMoving = false
      this.#step()
    })
  }

  #step(): void {
    if (this.#isCut) return
    const next = this.#waiting.shift()
    if (next === undefined) return this.#goodbye?.()
    this.waiting -= next.text.length
    // The next one comes, whatever becomes of this one.
    if (this.#waiting.length > 0 || this.#goodbye !== undefined) this.#move()
    next.done?.()
    this.#deliver(next.text)
  }
}

type Listener = (...args: never[]) => void

/** The listeners of one end, by event. */
class Listeners {
  readonly #byName = new Map<string, Listener[]>()

  add(name: string, listener: Listener): void {
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), listener])
  }

  call(name: string, ...args: readonly unknown[]): void {
    for (const listener of this.#byName.get(name) ?? []) listener(...(args as never[]))
  }
}

/**
 * Creates the two ends of a connection within this process, as WebSockets. Messages arrive in order and asynchronously. The client's end opens a turn
 * of the event loop later. A close arrives after earlier messages.
 */
export function socketPair(): SocketPair {
  const atClient = new Listeners()
  const atServer = new Listeners()
  /** State like `readyState` of a WebSocket: 1 open, 2 closing, 3 closed. */
  let state = 1
  const down = new Direction((data) => atClient.call('message', { data }))
  const up = new Direction((text) => atServer.call('message', text, false))
  const over = (code: number, reason: string): void => {
    if (state === 3) return
    state = 3
    down.cut()
    up.cut()
    atClient.call('close', { code, reason })
    atServer.call('close')
  }
  const close = (from: Direction, code: number, reason: string): void => {
    if (state !== 1) return
    state = 2
    from.end(() => over(code, reason))
  }
  setImmediate(() => {
    if (state === 1) atClient.call('open', {})
  })
  return {
    client: {
      send(text) {
        if (state === 1) up.send(text)
      },
      close: (code = doneCode, reason = '') => close(up, code, reason),
      addEventListener: (type, listener) => atClient.add(type, listener),
    },
    server: {
      get readyState() {
        return state
      },
      get bufferedAmount() {
        return down.waiting
      },
      send(text, done) {
        if (state === 1) down.send(text, done)
        else done()
      },
      // The other end is there as long as this process is.
      ping: () =>
        void setImmediate(() => {
          if (state === 1) atServer.call('pong')
        }),
      close: (code, reason) => close(down, code, reason),
      terminate: () => over(brokenCode, ''),
      on: (event, listener) => atServer.add(event, listener),
    },
  }
}

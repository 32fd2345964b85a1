import { EventEmitter } from 'node:events'
import type { WebSocket } from 'ws'
import type { AnyWebSocket, WebSocketConstructor } from '../../../src/client/connectOptions.ts'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import type { Dice } from '../../../../../test/tree/dice.ts'

/** How long things take on a wire, in milliseconds: each takes between 0 and this. */
export interface Slowness {
  readonly delivery: number
  /** Until an end learns that the other one is gone. */
  readonly notice: number
}

interface Message {
  readonly text: string
  sent(): void
}

/** One direction of a connection: in order, some messages at a time, until it is cut. */
class Pipe {
  readonly #line: MemoryLine
  readonly #deliver: (text: string) => void
  readonly #messages: Message[] = []
  #cancel: (() => void) | undefined
  #isCut = false
  bytes = 0
  /** Calls once everything has gone through. */
  #last: (() => void) | undefined

  constructor(line: MemoryLine, deliver: (text: string) => void) {
    this.#line = line
    this.#deliver = deliver
  }

  send(text: string, sent: () => void = () => {}): void {
    this.#messages.push({ text, sent })
    this.bytes += text.length
    this.pump()
  }

  end(last: () => void): void {
    if (this.#isCut) return
    this.#last = last
    this.pump()
  }

  /** Loses what is on its way; the sender may not know and fill it. */
  cut(): void {
    this.#isCut = true
    this.#cancel?.()
  }

  pump(): void {
    const { clock, dice, slowness, isHeld } = this.#line
    if (this.#isCut || isHeld || this.#cancel !== undefined) return
    if (this.#messages.length === 0 && this.#last === undefined) return
    this.#cancel = clock.after(dice.int(0, slowness.delivery), () => {
      this.#cancel = undefined
      if (this.#line.isHeld) return
      for (let left = dice.int(1, 6); left > 0 && !this.#isCut; left -= 1) this.#deliverOne()
      this.pump()
    })
  }

  #deliverOne(): void {
    const message = this.#messages.shift()
    if (message === undefined) {
      const last = this.#last
      this.#last = undefined
      return last?.()
    }
    this.bytes -= message.text.length
    message.sent()
    this.#deliver(message.text)
  }
}

/** The end a server has: what it uses of a socket of `ws`. */
class ServerEnd extends EventEmitter {
  readyState = 1
  readonly #pair: Pair

  constructor(pair: Pair) {
    super()
    this.#pair = pair
  }

  get bufferedAmount(): number {
    return this.#pair.down.bytes
  }

  send(text: string, sent: () => void): void {
    if (this.readyState === 1) this.#pair.down.send(text, sent)
  }

  close(code: number): void {
    if (this.readyState !== 1) return
    this.readyState = 2
    this.#pair.down.end(() => this.#pair.end(code))
  }

  terminate(): void {
    this.#pair.cut()
    this.gone()
  }

  ping(): void {}

  gone(): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.emit('close')
  }
}

type Listener = (event: never) => void

/** The end a client has: a standard WebSocket as far as ours uses it. */
class ClientEnd implements AnyWebSocket {
  readonly #listeners = new Map<string, Listener[]>()
  #isOver = false
  pair: Pair | undefined

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(text: string): void {
    this.pair?.up.send(text)
  }

  close(code = 1000): void {
    this.pair?.up.end(() => this.pair?.end(code))
  }

  hear(type: string, event: object): void {
    if (this.#isOver) return
    if (type === 'close') this.#isOver = true
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never)
  }
}

class Pair {
  readonly up: Pipe
  readonly down: Pipe
  readonly server: ServerEnd
  readonly #line: MemoryLine
  readonly #client: ClientEnd

  constructor(line: MemoryLine, client: ClientEnd) {
    this.#line = line
    this.#client = client
    this.server = new ServerEnd(this)
    this.up = new Pipe(line, (text) => {
      if (this.server.readyState === 1) this.server.emit('message', Buffer.from(text), false)
    })
    this.down = new Pipe(line, (data) => client.hear('message', { data }))
  }

  /** In order, with a code. */
  end(code: number): void {
    this.cutPipes()
    this.#client.hear('close', { code })
    this.server.gone()
  }

  /** Without a word: each end learns of it in its own time. */
  cut(): void {
    const { clock, dice, slowness } = this.#line
    this.cutPipes()
    clock.after(dice.int(0, slowness.notice), () => this.#client.hear('close', { code: 1006 }))
    clock.after(dice.int(0, slowness.notice * 5), () => this.server.gone())
  }

  cutPipes(): void {
    this.up.cut()
    this.down.cut()
    this.#line.pairs.delete(this)
  }
}

/** Takes a connection; `undefined`: nobody listens. */
export type Accept = ((socket: WebSocket) => void) | undefined

/** A wire in memory from one client to whichever server listens, on simulated time: it can be cut and held. */
export class MemoryLine {
  readonly clock: Clock
  readonly dice: Dice
  readonly slowness: Slowness
  readonly pairs = new Set<Pair>()
  readonly webSocket: WebSocketConstructor
  connections = 0
  isHeld = false

  constructor(
    parts: { readonly clock: Clock; readonly dice: Dice; readonly slowness: Slowness },
    accept: () => Accept,
  ) {
    this.clock = parts.clock
    this.dice = parts.dice
    this.slowness = parts.slowness
    const dial = (client: ClientEnd): void => this.#dial(client, accept)
    this.webSocket = class extends ClientEnd {
      constructor() {
        super()
        dial(this)
      }
    }
  }

  #dial(client: ClientEnd, accept: () => Accept): void {
    this.clock.after(this.dice.int(0, this.slowness.delivery), () => {
      const taken = accept()
      if (taken === undefined) {
        client.hear('error', {})
        return client.hear('close', { code: 1006 })
      }
      this.connections += 1
      const pair = new Pair(this, client)
      client.pair = pair
      this.pairs.add(pair)
      taken(pair.server as unknown as WebSocket)
      client.hear('open', {})
    })
  }

  cut(): void {
    for (const pair of this.pairs) pair.cut()
  }

  /** Holds back what either end sends, and sends it later. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld
    for (const { up, down } of this.pairs) {
      up.pump()
      down.pump()
    }
  }

  /** The server's process is gone: its ends are closed at once, without a word. */
  die(): void {
    for (const pair of this.pairs) pair.server.terminate()
  }
}

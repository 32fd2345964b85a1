/** Somebody who is connected, in whichever protocol, or waits for the rest of an answer. */
export interface Connection {
  /** A second is over: the allowance of frames is fresh. */
  tick(): void
  /** Asks whether the client is there; gives it up when it did not answer the last time. */
  ping(): void
  /** The server shuts down: says so and closes. */
  leave(): void
  terminate(): void
}

/** How many there may be. */
interface SocketLimits {
  readonly strangers: number
  readonly strangersPerAddress: number
}

/**
 * Sockets whose token is not known yet. They have little room, of each address and in all, and take none from those who are known.
 * Where it is full the one that has waited longest goes: who says hello at once gets in, however many others never will.
 */
export class UnauthenticatedSockets {
  readonly #limits: SocketLimits
  /** The one that has waited longest first. */
  readonly #addresses = new Map<Connection, string>()

  constructor(limits: SocketLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#addresses.size
  }

  /** Takes one in; gives the one that has to go for it. */
  add(socket: Connection, address: string): Connection | undefined {
    const { strangers, strangersPerAddress } = this.#limits
    const neighbours = [...this.#addresses].flatMap(([other, from]) => (from === address ? [other] : []))
    const isCrowded = neighbours.length >= strangersPerAddress
    const [oldest] = isCrowded ? neighbours : this.size >= strangers ? this.#addresses.keys() : []
    if (oldest !== undefined) this.#addresses.delete(oldest)
    this.#addresses.set(socket, address)
    return oldest
  }

  /** It is known by now, or gone; `false`: it was none of them. */
  delete(socket: Connection): boolean {
    return this.#addresses.delete(socket)
  }
}

/** A connected client of any protocol, or one that is still receiving a response. */
export interface Connection {
  /** Renews the frame allowance after a second. */
  tick(): void
  /** Pings the client, or disconnects it if it did not answer the last ping. */
  ping(): void
  /** Tells the client that the server is shutting down, and closes. */
  leave(): void
  terminate(): void
}

/** Maximum number. */
interface SocketLimits {
  readonly strangers: number
  readonly strangersPerAddress: number
}

/**
 * Sockets that have not authenticated yet. They have a small limit, in total and per address, apart from that of clients. When it is
 * reached the oldest one goes: a client that says hello at once gets in, however many others never do.
 */
export class UnauthenticatedSockets {
  readonly #limits: SocketLimits
  /** Addresses by socket, the oldest socket first. */
  readonly #addresses = new Map<Connection, string>()

  constructor(limits: SocketLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#addresses.size
  }

  /** Adds a socket; returns the one that has to go to make room. */
  add(socket: Connection, address: string): Connection | undefined {
    const { strangers, strangersPerAddress } = this.#limits
    const neighbours = [...this.#addresses].flatMap(([other, from]) => (from === address ? [other] : []))
    const isCrowded = neighbours.length >= strangersPerAddress
    const [oldest] = isCrowded ? neighbours : this.size >= strangers ? this.#addresses.keys() : []
    if (oldest !== undefined) this.#addresses.delete(oldest)
    this.#addresses.set(socket, address)
    return oldest
  }

  /** Removes a socket that has authenticated or is closed; returns `false` if it was not here. */
  delete(socket: Connection): boolean {
    return this.#addresses.delete(socket)
  }
}

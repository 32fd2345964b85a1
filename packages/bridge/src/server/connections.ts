/** A connected client of any protocol, or one that is still receiving a response. */
export interface Connection {
  /** Renews the frame allowance. Called every second. */
  tick(): void
  /** Pings the client, or disconnects it if it did not answer the last ping. */
  ping(): void
  /** Tells the client that the server is shutting down, and closes. */
  leave(): void
  terminate(): void
}

/** Maximum number of sockets that have not authenticated, in total and per address. */
interface SocketLimits {
  readonly strangers: number
  readonly strangersPerAddress: number
}

/**
 * Sockets that have not authenticated yet. They have a small limit, in total and per address, separate from the limit for clients.
 * When it is reached the oldest one is closed, so that a client that says hello promptly gets in, however many others never do.
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

  /** Adds a socket. Returns the socket to close in order to make room, if any. */
  add(socket: Connection, address: string): Connection | undefined {
    const { strangers, strangersPerAddress } = this.#limits
    const neighbours = [...this.#addresses].flatMap(([other, from]) => (from === address ? [other] : []))
    const isCrowded = neighbours.length >= strangersPerAddress
    const [oldest] = isCrowded ? neighbours : this.size >= strangers ? this.#addresses.keys() : []
    if (oldest !== undefined) this.#addresses.delete(oldest)
    this.#addresses.set(socket, address)
    return oldest
  }

  /** Removes a socket that has authenticated or is closed. Returns `false` if it is not in the list. */
  delete(socket: Connection): boolean {
    return this.#addresses.delete(socket)
  }
}

import type { Connection } from './bridge.ts'

/** How many there may be. */
interface Room {
  readonly strangers: number
  readonly strangersPerAddress: number
}

/**
 * Sockets whose token is not known yet. They have little room, of each address and in all, and take none from those who are known.
 * Where it is full the one that has waited longest goes: who says hello at once gets in, however many others never will.
 */
export class Strangers {
  readonly #room: Room
  /** The one that has waited longest first. */
  readonly #addresses = new Map<Connection, string>()

  constructor(room: Room) {
    this.#room = room
  }

  get size(): number {
    return this.#addresses.size
  }

  /** Takes one in; gives the one that has to go for it. */
  add(stranger: Connection, address: string): Connection | undefined {
    const { strangers, strangersPerAddress } = this.#room
    const neighbours = [...this.#addresses].flatMap(([other, from]) => (from === address ? [other] : []))
    const isCrowded = neighbours.length >= strangersPerAddress
    const [oldest] = isCrowded ? neighbours : this.size >= strangers ? this.#addresses.keys() : []
    if (oldest !== undefined) this.#addresses.delete(oldest)
    this.#addresses.set(stranger, address)
    return oldest
  }

  /** It is known by now, or gone; `false`: it was none of them. */
  delete(stranger: Connection): boolean {
    return this.#addresses.delete(stranger)
  }
}

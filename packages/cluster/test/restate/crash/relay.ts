import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A network between somebody and a server, which may fail. */
export class Relay {
  readonly #server: Server
  readonly #target: string
  readonly #sockets = new Set<Socket>()
  readonly #late: (() => void)[] = []
  #state: 'open' | 'stalls' | 'refuses' = 'open'
  #tried = Promise.withResolvers<void>()

  private constructor(server: Server, target: string) {
    this.#server = server
    this.#target = target
    server.on('connection', (socket) => this.#join(socket))
  }

  /** `target`: a socket's path. */
  static async open(target: string): Promise<Relay> {
    const server = createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Relay(server, target)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** From now on nothing arrives, and nobody is told. What is sent arrives later, also of those who no longer wait, as TCP has it. */
  stall(): void {
    this.#state = 'stalls'
  }

  /** Breaks what there is; what is new breaks at once. */
  refuse(): void {
    this.#state = 'refuses'
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Resolves once somebody has tried to send something that did not arrive. */
  tried(): Promise<void> {
    return this.#tried.promise
  }

  heal(): void {
    this.#state = 'open'
    for (const deliver of this.#late.splice(0)) deliver()
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(near: Socket): void {
    if (this.#state === 'refuses') {
      this.#tried.resolve()
      near.destroy()
      return
    }
    const far = connect({ path: this.#target, allowHalfOpen: true })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one)
      one.on('data', (bytes) => this.#deliver(() => other.write(bytes)))
      one.on('end', () => this.#deliver(() => other.end()))
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        this.#deliver(() => other.end())
      })
    }
  }

  #deliver(what: () => void): void {
    if (this.#state === 'stalls') {
      this.#tried.resolve()
      this.#late.push(what)
    } else what()
  }
}

import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { endTogether } from '../../../../../test/support/endTogether.ts'

/** A balancer as small as may be: what connects to it is connected to one worker, until it is switched to another one. */
export class Switchboard {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target = 0
  #left = Promise.withResolvers<void>()

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => this.#join(socket))
  }

  static async open(): Promise<Switchboard> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Switchboard(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** From now on it is this port; what was connected to another is cut off, as by a health check that has failed. */
  switchTo(port: number): void {
    this.#target = port
    for (const socket of this.#sockets) socket.destroy()
  }

  /** New connections come to this port; what is connected is left as it is, as nobody has noticed anything. */
  divertTo(port: number): void {
    this.#target = port
  }

  /** The same, and on what is connected nothing arrives any more in either direction, of which nobody is told. */
  loseTo(port: number): void {
    this.#target = port
    for (const socket of this.#sockets) {
      socket.unpipe()
      socket.pause()
    }
  }

  /** Resolves once somebody who was connected has given up, after this was called. */
  left(): Promise<void> {
    this.#left = Promise.withResolvers()
    return this.#left.promise
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(near: Socket): void {
    const far = connect(this.#target, '127.0.0.1')
    near.pipe(far).pipe(near)
    endTogether(near, far)
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    }
    near.on('close', () => this.#left.resolve())
  }
}

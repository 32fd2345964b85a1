import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

const ipv4 = 1
/** Most bytes an answer may have without being asked for more. */
const plainBytes = 512

/** A name server that knows one name, whatever it is asked for: the addresses of all workers, as that of a cluster does. */
export class NameServer {
  readonly #socket: Socket
  /** Addresses that it answers from now on. */
  addresses: readonly string[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('message', (asked, { port, address }) => socket.send(this.#answer(asked), port, address))
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new NameServer(socket)
  }

  get port(): number {
    return this.#socket.address().port
  }

  close(): void {
    this.#socket.close()
  }

  #answer(asked: Buffer): Buffer {
    let end = 12
    while (asked[end] !== 0) end += asked[end]! + 1
    const question = asked.subarray(12, end + 5)
    const type = asked.readUInt16BE(end + 1)
    // An additional record says how many bytes who asks takes: its third field.
    const bytes = asked.readUInt16BE(10) === 0 ? plainBytes : asked.readUInt16BE(end + 8)
    const all = type === ipv4 ? this.addresses : []
    const fitting = all.slice(0, Math.floor((bytes - 12 - question.length) / 16))
    const isCut = fitting.length < all.length ? 2 : 0
    const head = Buffer.from([asked[0]!, asked[1]!, 0x84 | isCut, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    head.writeUInt16BE(fitting.length, 6)
    const record = [0xc0, 12, 0, ipv4, 0, 1, 0, 0, 0, 1, 0, 4]
    const answers = fitting.map((address) => Buffer.from([...record, ...address.split('.').map(Number)]))
    return Buffer.concat([head, question, ...answers])
  }
}

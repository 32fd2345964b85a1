import type { ServerResponse } from 'node:http'
import type { Connection } from './connections.ts'
import type { OpenResponse } from './endpoint.ts'

/** Pings in a row for which a client may read nothing of what is waiting. */
const maxSilent = 2

/** An open HTTP response: it counts as a connection, and a client that does not read it is cut off. */
export class ResponseConnection implements Connection, OpenResponse {
  readonly #response: ServerResponse
  readonly #hardLimitBytes: number
  readonly #isGranted: () => boolean
  #onLeave: () => void = () => {}
  /** Bytes sent by the last ping. */
  #left = -1
  #silent = 0

  /** `isGranted`: whether the token it came with still allows what it did. */
  constructor(
    response: ServerResponse,
    { hardLimitBytes, isGranted }: { readonly hardLimitBytes: number; readonly isGranted: () => boolean },
  ) {
    this.#response = response
    this.#hardLimitBytes = hardLimitBytes
    this.#isGranted = isGranted
  }

  onLeave(listener: () => void): void {
    this.#onLeave = listener
  }

  /** A response receives no frames. */
  tick(): void {}

  ping(): void {
    const { socket, writableLength, writableNeedDrain } = this.#response
    if (socket === null) return
    if (!this.#isGranted()) return this.terminate()
    const left = socket.bytesWritten - socket.writableLength
    this.#silent = writableNeedDrain && left === this.#left ? this.#silent + 1 : 0
    this.#left = left
    if (this.#silent >= (writableLength > this.#hardLimitBytes ? 1 : maxSilent)) this.terminate()
  }

  leave(): void {
    this.#onLeave()
  }

  terminate(): void {
    this.#response.destroy()
  }
}

import type { ServerResponse } from 'node:http'
import type { Connection } from './connections.ts'
import type { OpenResponse } from './endpoint.ts'

/** Pings in a row between which a client may take nothing of what waits. */
const maxSilent = 2

/** An answer of an endpoint: it counts as a connection until it is over, and a client that does not read it is cut off. */
export class ResponseConnection implements Connection, OpenResponse {
  readonly #response: ServerResponse
  readonly #hardLimitBytes: number
  readonly #isGranted: () => boolean
  #onLeave: () => void = () => {}
  /** Bytes that had left at the last ping. */
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

  /** An answer takes no frames. */
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

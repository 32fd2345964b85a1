/** Data of a message, as `ws` delivers it. Declared here so that users of the package do not need the types of `ws`. */
type RawData = Buffer | ArrayBuffer | Buffer[]

/** The server's end of a WebSocket: a socket of `ws`, or one of a pair in this process. */
export interface ServerSocket {
  /** State of the socket, as in browsers. 1: messages can be sent and received. */
  readonly readyState: number
  /** Number of bytes that were sent and have not left yet. */
  readonly bufferedAmount: number
  /** Sends a text. `done` is called once the text has left or never will. */
  send(text: string, done: () => void): void
  /** Pings the other end. */
  ping(): void
  close(code: number, reason: string): void
  /** Ends the connection without a close handshake. */
  terminate(): void
  on(event: 'message', listener: (data: RawData | string, isBinary: boolean) => void): unknown
  on(event: 'pong' | 'close' | 'error', listener: () => void): unknown
}

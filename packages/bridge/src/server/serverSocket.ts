/** Data of a message, as `ws` delivers it; declared here so that users of the package need no types of `ws`. */
type RawData = Buffer | ArrayBuffer | Buffer[]

/** The server's end of a WebSocket: one of `ws`, or of a pair in this process. */
export interface ServerSocket {
  /** 1: messages can be sent and received. */
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

/** A WebSocket that carries text. The server closes it on binary messages and on messages that are too large. */
export interface TextSocket {
  /** Number of bytes that were sent and have not left yet. */
  readonly bufferedAmount: number
  /** Sends a text. `done` is called once the text has left or never will. */
  send(text: string, done?: () => void): void
  close(code: number, reason: string): void
  /** Calls `listener` with each text message. If it throws, the socket is closed with 1011. */
  onText(listener: (text: string) => void): void
  /** Calls `listener` once the socket is closed, by either side. */
  onClose(listener: () => void): void
}

/** A WebSocket that carries text. Binary messages and those that are too large are closed by the server. */
export interface TextSocket {
  /** Number of bytes that were sent and have not left yet. */
  readonly bufferedAmount: number
  /** Sends a text. `done` is called once the text has left or never will. */
  send(text: string, done?: () => void): void
  close(code: number, reason: string): void
  /** Calls `listener` with each text message; an error that it throws closes the socket with 1011. */
  onText(listener: (text: string) => void): void
  /** Calls `listener` once the socket is closed, by either side. */
  onClose(listener: () => void): void
}

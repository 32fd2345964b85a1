/** A WebSocket that carries text. Binary messages and those that are too large are closed by the server. */
export interface TextSocket {
  /** Bytes that were sent and have not left yet. */
  readonly bufferedAmount: number
  /** `done` is called once the text has left, or never will. */
  send(text: string, done?: () => void): void
  close(code: number, reason: string): void
  /** What the listener throws closes the socket with 1011. */
  onText(listener: (text: string) => void): void
  /** Calls once the socket is closed, by whichever side. */
  onClose(listener: () => void): void
}

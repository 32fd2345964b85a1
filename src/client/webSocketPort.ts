/** What the client needs of a WebSocket: the one of browsers and of Node 22 has it, and so has that of the package `ws`. */
export interface WebSocketPort {
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** Makes a socket that connects. */
export type WebSocketConstructor = new (url: string, protocol: string) => WebSocketPort

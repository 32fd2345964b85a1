/** A standard WebSocket of any implementation; `addEventListener` is omitted because each types it differently. */
export interface AnyWebSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** The members that the client uses. */
export interface WebSocketPort extends AnyWebSocket {
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void
}

/** Makes a socket that connects: the `WebSocket` of browsers, of Node 22, or of the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => AnyWebSocket

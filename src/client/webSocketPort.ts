/** A standard WebSocket, whoever made it; its `addEventListener`, which everyone types in a way of their own, is taken for granted. */
export interface AnyWebSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** What the client uses of it. */
export interface WebSocketPort extends AnyWebSocket {
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: never) => void): void
}

/** Makes a socket that connects: the `WebSocket` of browsers, of Node 22, or of the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => AnyWebSocket

/** Subprotocol of the WebSocket; it carries the version of the frames. */
export const bridgeProtocol = 'escapement.v1'

/**
 * Prefix of a second subprotocol, with which a browser page sends its token in the connection request. The rest is the token in base64url. The server
 * never selects it.
 */
export const tokenProtocolPrefix = 'escapement.token.'

/** Codes with which the server closes a socket, besides those of the WebSocket protocol. */
export const closeCodes = {
  /** The token is missing or wrong, the session is another client's, or `hello` came too late. */
  unauthorised: 4001,
  /** Too many frames, or too many waiting commands. A frame that is too large closes the socket with 1009, by the WebSocket protocol. */
  flooded: 4002,
  /** No pong arrived in time. */
  silent: 4008,
  /** The client does not read, or cannot be admitted at the moment. */
  stuck: 1013,
  /** The server shuts down, or the token was changed. */
  goingAway: 1001,
} as const

/** Subprotocol of the WebSocket; it carries the version of the frames. */
export const bridgeProtocol = 'escapement.v1'

/**
 * Beginning of a second subprotocol, by which a browser's page brings its token with the request for a connection: the rest is the
 * token in base64url. It is never chosen.
 */
export const tokenProtocolPrefix = 'escapement.token.'

/** Codes with which the server closes a socket, beside those of the WebSocket protocol. */
export const closeCodes = {
  /** No token or a wrong one, a session of another client, or no `hello` in time. */
  unauthorised: 4001,
  /** Too many frames, or too many commands that wait. A frame that is too large closes the socket with 1009, by the WebSocket protocol. */
  flooded: 4002,
  /** No pong for too long. */
  silent: 4008,
  /** The client does not read, or cannot be let in for now. */
  stuck: 1013,
  /** The server shuts down, or the token was changed. */
  goingAway: 1001,
} as const

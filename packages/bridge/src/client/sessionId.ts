import { tokenProtocolPrefix } from '../../../wire/src/bridgeProtocol.ts'
import { hmacSha256, sha256 } from './sha256.ts'

/** Number of bytes of the keyed hash in a session id. */
const macBytes = 16

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns random bytes in hex. It avoids `randomUUID`, which pages without TLS do not have. */
export const randomHex = (bytes: number): string => hex(crypto.getRandomValues(new Uint8Array(bytes)))

/** Returns the session id for a name, random by default. With a token it is `<name>.<mac>`: the keyed hash proves that the token's holder made it. */
export function sessionIdFor(token: string | undefined, name: string = randomHex(16)): string {
  return token === undefined ? name : `${name}.${hex(hmacSha256(utf8(token), utf8(name)).subarray(0, macBytes))}`
}

/** Returns the mark of a session in the ids of its requests, which others can read in logs. */
export const sessionMark = (sessionId: string): string => hex(sha256(utf8(sessionId)).subarray(0, 16))

/** Returns the subprotocol that carries a token in the connection request, because a browser page cannot set headers. */
export function tokenProtocol(token: string): string {
  const base64 = btoa(String.fromCharCode(...utf8(token)))
  return `${tokenProtocolPrefix}${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

import { tokenProtocolPrefix } from '../protocol/frames.ts'
import { hmacSha256 } from './sha256.ts'

/** Bytes of the keyed hash that a session id carries. */
const macBytes = 16

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Random bytes in hex. Not `randomUUID`, which pages without TLS do not have. */
export const randomHex = (bytes: number): string => hex(crypto.getRandomValues(new Uint8Array(bytes)))

/**
 * The session of a name, new unless told. Of whoever has a token it is `<name>.<mac>`: the server sees by the hash, which is keyed
 * by the token, that nobody else made it.
 */
export function sessionIdFor(token: string | undefined, name: string = randomHex(16)): string {
  return token === undefined ? name : `${name}.${hex(hmacSha256(utf8(token), utf8(name)).subarray(0, macBytes))}`
}

/** The subprotocol that brings a token with the request for a connection, where a browser's page can say nothing else. */
export function tokenProtocol(token: string): string {
  const base64 = btoa(String.fromCharCode(...utf8(token)))
  return `${tokenProtocolPrefix}${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

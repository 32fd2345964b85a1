import { hmacSha256, sha256 } from '../../../../bridge/src/client/sha256.ts'
import { Buffer } from './globals.ts'

const utf8 = new TextEncoder()
const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? utf8.encode(data) : data)

/** Collects the data and hashes them at once, as `Hash` and `Hmac` of Node are used here. */
class Digest {
  readonly #parts: Uint8Array[] = []
  readonly #hash: (bytes: Uint8Array) => Uint8Array

  constructor(hash: (bytes: Uint8Array) => Uint8Array) {
    this.#hash = hash
  }

  update(data: string | Uint8Array): this {
    this.#parts.push(bytesOf(data))
    return this
  }

  digest(): Buffer
  digest(encoding: 'hex' | 'base64url'): string
  digest(encoding?: 'hex' | 'base64url'): Buffer | string {
    const hash = Buffer.from(this.#hash(Buffer.concat(this.#parts)))
    return encoding === undefined ? hash : hash.toString(encoding)
  }
}

export const createHash = (_algorithm: 'sha256'): Digest => new Digest(sha256)

export const createHmac = (_algorithm: 'sha256', key: string | Uint8Array): Digest =>
  new Digest((bytes) => hmacSha256(bytesOf(key), bytes))

export const randomBytes = (size: number): Buffer => Buffer.from(crypto.getRandomValues(new Uint8Array(size)))

/** Compares two byte arrays, not in constant time: in a page, no other party can measure the time. */
export const timingSafeEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The text in a sealed one, whoever sealed it. */
export const sealedIn = (sealed: string): string => Buffer.from(sealed.split('.', 1)[0]!, 'base64url').toString()

/** Texts that clients keep and bring back: nobody else can make one, and each is for one purpose alone. */
export class Seals {
  readonly #key: Uint8Array | string

  /** `key`: one that other servers have too, whose texts are taken then. Without one they hold as long as this server is there. */
  constructor(key: string | undefined) {
    this.#key = key ?? randomBytes(32)
  }

  seal(text: string, purpose: readonly string[]): string {
    const body = Buffer.from(text).toString('base64url')
    return `${body}.${this.#hashOf(body, purpose).toString('base64url')}`
  }

  /** `undefined`: it was sealed by somebody else, or for something else. */
  open(sealed: string, purpose: readonly string[]): string | undefined {
    const [body = '', hash = '', ...others] = sealed.split('.')
    const given = Buffer.from(hash, 'base64url')
    const own = this.#hashOf(body, purpose)
    if (others.length > 0 || given.length !== own.length || !timingSafeEqual(given, own)) return undefined
    return sealedIn(body)
  }

  #hashOf(body: string, purpose: readonly string[]): Buffer {
    return createHmac('sha256', this.#key)
      .update(`escapement seal\n${JSON.stringify([...purpose, body])}`)
      .digest()
  }
}

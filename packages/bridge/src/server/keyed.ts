import { createHmac, timingSafeEqual } from 'node:crypto'

/** The secret of a keyed hash. */
export type Key = Uint8Array | string

/** Returns the hash of a text for one purpose, keyed by a secret. Hashes of the same text for two purposes differ. */
export const keyedHash = (key: Key, purpose: string, text: string): Buffer =>
  createHmac('sha256', key).update(`escapement ${purpose}\n${text}`).digest()

/** Returns a value as a signed text for others: `<value>.<hash>`. They can read it, but cannot make or change one. */
export function keyedText(key: Key, purpose: string, value: unknown): string {
  const body = Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${body}.${keyedHash(key, purpose, body).toString('base64url')}`
}

/** Returns the value of a signed text; `undefined` if it was not signed with the key for this purpose. The hashes are compared in constant time. */
export function keyedValue(key: Key, purpose: string, text: string): unknown {
  const [body = '', hash = '', ...others] = text.split('.')
  const given = Buffer.from(hash, 'base64url')
  const own = keyedHash(key, purpose, body)
  // Of other spellings of the same bytes none is taken.
  if (others.length > 0 || given.length !== own.length || given.toString('base64url') !== hash) return undefined
  return timingSafeEqual(given, own) ? saidIn(text) : undefined
}

/** Returns the value in a signed text without checking its hash; `undefined` if there is none. */
export function saidIn(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text.split('.', 1)[0]!, 'base64url').toString())
  } catch {
    return undefined
  }
}

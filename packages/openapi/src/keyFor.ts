import { createHash } from 'node:crypto'

/** The longest key that services are known to take. */
const longest = 255

/** A call's key as a header: the same on every attempt. */
export const keyFor = (key: string): string =>
  key.length <= longest && /^[\x21-\x7e]+$/.test(key) ? key : createHash('sha256').update(key).digest('hex')

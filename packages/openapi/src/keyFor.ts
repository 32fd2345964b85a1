import { createHash } from 'node:crypto'

/** Maximum length of a key that services are known to accept. */
const longest = 255

/** Returns a call's key for a header, the same on every attempt. */
export const keyFor = (key: string): string =>
  key.length <= longest && /^[\x21-\x7e]+$/.test(key) ? key : createHash('sha256').update(key).digest('hex')

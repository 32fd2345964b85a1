import type { PerMessageDeflateOptions } from 'ws'

/**
 * How messages of WebSockets are compressed: those of more than a kilobyte, each by itself, so that a connection at rest holds no memory
 * for it, and few at the same time. What comes is bounded by `maxPayload` as it is once it has grown.
 */
export const compression: PerMessageDeflateOptions = {
  threshold: 1_024,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  // 4 kB of memory in place of 128: level 3 is nearly as small on JSON, at a third of the time.
  zlibDeflateOptions: { level: 3, memLevel: 7 },
  concurrencyLimit: 8,
}

import type { PerMessageDeflateOptions } from 'ws'

/**
 * Compression of WebSocket messages. Messages of more than a kilobyte are compressed, each separately: a connection that has never sent or
 * received one uses no memory for it. Only a few are compressed at the same time. `maxPayload` limits the decompressed size of incoming messages.
 */
export const compression: PerMessageDeflateOptions = {
  threshold: 1_024,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  // 32 kB of memory for a connection that was sent something large, in place of 256; level 3 takes a third of the time of level 6.
  zlibDeflateOptions: { level: 3, memLevel: 5 },
  serverMaxWindowBits: 12,
  concurrencyLimit: 8,
}

export { deflateSync as deflateRawSync, inflateSync as inflateRawSync } from 'fflate'

/** Returns the checksum of bytes, as Node's `crc32` does. */
export function crc32(bytes: Uint8Array): number {
  let sum = -1
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1))
  }
  return ~sum >>> 0
}

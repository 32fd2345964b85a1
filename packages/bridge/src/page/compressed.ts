import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from './encodings.ts'

/** Brotli quality that takes as long as gzip. The highest quality takes fifty times as long. */
const brotliQuality = 5

const compress: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
}

/** Returns a function that returns the body in an encoding. Each encoding is computed once, on first use, and cached. */
export function compressed(body: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const made = new Map<Encoding, Promise<Buffer>>()
  return (encoding) => {
    const making = made.get(encoding) ?? compress[encoding](body)
    made.set(encoding, making)
    return making
  }
}

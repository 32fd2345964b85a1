import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from './encodings.ts'

/** As small as it gets in the time that gzip takes: the highest quality of brotli takes fifty times as long. */
const brotliQuality = 5

const compress: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
}

/** Returns a function that gives the body in an encoding. Each encoding is made once, when it is first asked for, and kept. */
export function compressed(body: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const made = new Map<Encoding, Promise<Buffer>>()
  return (encoding) => {
    const making = made.get(encoding) ?? compress[encoding](body)
    made.set(encoding, making)
    return making
  }
}

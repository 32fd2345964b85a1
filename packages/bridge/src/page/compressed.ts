import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from './encodings.ts'

/** Brotli quality that takes as long as gzip. */
const quick = 5
/** The highest quality: a tenth smaller, in fifty times the time. */
const best = constants.BROTLI_MAX_QUALITY

const brotli = (body: Buffer, quality: number): Promise<Buffer> =>
  promisify(brotliCompress)(body, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
  })

/** Returns a body in Brotli of the highest quality. */
export const smallest = (body: Buffer): Promise<Buffer> => brotli(body, best)

const compress: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => brotli(body, quick),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
}

/**
 * Returns a function that returns the body in an encoding. Each is computed on first use, off this thread, and cached.
 * If Brotli is requested again, its body is replaced by one of the highest quality, which no request waits for.
 */
export function compressed(body: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const made = new Map<Encoding, Promise<Buffer>>()
  let improving: Promise<void> | undefined
  const improve = async (): Promise<void> => {
    // Without it the quick one stays.
    const smaller = await smallest(body).catch(() => undefined)
    if (smaller !== undefined) made.set('br', Promise.resolve(smaller))
  }
  return (encoding) => {
    const known = made.get(encoding)
    if (known !== undefined && encoding === 'br') improving ??= improve()
    const making = known ?? compress[encoding](body)
    made.set(encoding, making)
    return making
  }
}

import type { ServerResponse } from 'node:http'

/** Number of bytes written at a time. With larger pieces it would not be visible whether the client reads. */
const pieceBytes = 65_536

/** Status codes of responses without a body, which must not have a length either. */
const bodiless: ReadonlySet<number> = new Set([204, 304])

type Give = (...given: readonly unknown[]) => unknown

/** Makes a response write the data given to `end` in pieces, each after the previous one has left, to show whether the client reads. */
export function endInPieces(response: ServerResponse): void {
  const end = response.end.bind(response) as Give
  const write = response.write.bind(response)
  const ending: Give = (...given) => {
    const [chunk, encoding] = given
    if (!isLarge(chunk) || bodiless.has(response.statusCode)) return end(...given)
    const bytes = Buffer.from(chunk as string, encoding as BufferEncoding)
    const hasLength = response.hasHeader('content-length') || response.hasHeader('transfer-encoding')
    if (!response.headersSent && !hasLength) response.setHeader('content-length', bytes.length)
    // Nothing follows what has ended, also while it is written.
    Object.assign(response, { end: () => response, write: () => false })
    const done = given.find((one) => typeof one === 'function')
    writeAll(bytes, response, write).then(
      () => response.destroyed || end(done),
      (thrown: unknown) => response.destroy(thrown as Error),
    )
    return response
  }
  response.end = ending as ServerResponse['end']
}

const isLarge = (chunk: unknown): chunk is string | Uint8Array =>
  (typeof chunk === 'string' && Buffer.byteLength(chunk) > pieceBytes) ||
  (chunk instanceof Uint8Array && chunk.length > pieceBytes)

/** Resolves once everything was written, or the client has left. */
async function writeAll(bytes: Buffer, response: ServerResponse, write: (piece: Buffer) => boolean): Promise<void> {
  for (let at = 0; at < bytes.length && !response.destroyed; at += pieceBytes)
    if (!write(bytes.subarray(at, at + pieceBytes))) await drained(response)
}

/** Resolves once a response accepts more data, or its client has left. */
function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const over = (): void => {
    response.off('drain', over).off('close', over)
    resolve()
  }
  response.on('drain', over).on('close', over)
  return promise
}

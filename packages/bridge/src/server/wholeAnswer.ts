import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Bytes that are written at once: of a larger piece nobody can see whether the client reads it. */
export const pieceBytes = 65_536

/** Writes the rest of an answer, and ends it; resolves once all is written, or the client has left. */
export async function endWhole(response: ServerResponse, content: string | Uint8Array): Promise<void> {
  const bytes = Buffer.from(content)
  const pieces = function* (): Generator<Buffer> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  await pipeline(Readable.from(pieces()), response).catch((thrown: unknown) => {
    if (!response.destroyed) throw thrown
  })
}

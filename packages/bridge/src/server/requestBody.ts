import type { IncomingMessage } from 'node:http'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** Returns the body of a request as text; `undefined` if the client left before its end. @throws RuntimeError `BRIDGE_LIMIT` */
export async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const tooLarge = (): RuntimeError => new RuntimeError('BRIDGE_LIMIT', `The input is larger than ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= maxBytes) return void chunks.push(chunk)
      request.off('data', take)
      request.pause()
      reject(tooLarge())
    }
    request.on('data', take)
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    request.on('close', () => resolve(undefined))
    request.on('error', () => resolve(undefined))
  })
}

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { compressed } from '../page/compressed.ts'
import { encodingFor, encodings } from '../page/encodings.ts'

/** Minimum size of a body that is compressed, in bytes. */
const leastBytes = 1_024

/** Sends an answer that is made for this request only, compressed in an encoding that the client accepts. */
export async function answerCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const body = Buffer.from(text)
  const known = encodingFor(request.headers['accept-encoding'], body.length < leastBytes ? [] : encodings)
  const encoding = known === 'identity' ? undefined : known
  const sent = encoding === undefined ? body : await compressed(body)(encoding)
  response.appendHeader('vary', 'accept-encoding')
  response.writeHead(200, {
    ...headers,
    'cache-control': 'no-store',
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  })
  response.end(sent)
}

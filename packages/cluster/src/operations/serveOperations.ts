import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Readiness } from './readiness.ts'

/** Options of `serveOperations`. */
export interface OperationsOptions {
  readonly port: number
  /** Host to listen on. Default: this machine alone. */
  readonly host?: string | undefined
  readonly readiness: Readiness
  /** Answers `/metrics`. A string is the reason why there are no metrics. */
  readonly metrics: ((request: IncomingMessage, response: ServerResponse) => void) | string
}

/** An HTTP server for the operators of a program. */
export interface OperationsServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves `/metrics`, `/readyz` and `/livez` to every client that reaches the port. Needs no token, and reveals nothing of any conversation.
 *
 * @throws RuntimeError `BRIDGE_LISTEN_FAILED`
 */
export async function serveOperations(options: OperationsOptions): Promise<OperationsServer> {
  const { port, host = '127.0.0.1', readiness, metrics } = options
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (request.method !== 'GET' && request.method !== 'HEAD') return say(response, 405, 'only GET')
    if (path === '/livez') return say(response, 200, 'ok')
    if (path === '/readyz')
      return void readiness
        .trouble()
        .then((trouble) => (trouble === undefined ? say(response, 200, 'ok') : say(response, 503, trouble)))
    if (path !== '/metrics') return say(response, 404, 'there are /metrics, /readyz and /livez')
    if (typeof metrics === 'string') return say(response, 501, metrics)
    metrics(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (thrown) =>
      reject(new RuntimeError('BRIDGE_LISTEN_FAILED', `--operations-port: ${messageOf(thrown)}.`, { cause: thrown })),
    )
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const say = (response: ServerResponse, status: number, text: string): void =>
  void response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(`${text}\n`)

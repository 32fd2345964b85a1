import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as it came over the wire, body parsed. */
export interface WireRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readonly<Record<string, unknown>>
}

/** One HTTP exchange, in the hands of the test: nothing is sent until the script says so. */
export interface WireExchange {
  readonly request: WireRequest
  /** Sends the head of a `text/event-stream` response, and then each text as it is, at once. */
  send(...texts: readonly string[]): void
  end(): void
  /** Sends a whole response that is not a stream; an object goes out as JSON. */
  answer(status: number, body?: unknown, headers?: Record<string, string>): void
  /** Destroys the connection. */
  drop(): void
  readonly isEnded: boolean
  /** Resolves once the client has closed the connection before the response was complete. */
  readonly closedByClient: Promise<void>
}

export type WireScript = (exchange: WireExchange) => void | Promise<void>

/** A local HTTP server whose replies are scripts, one a request, in order. */
export interface WireServer {
  readonly url: string
  readonly requests: readonly WireRequest[]
  /** Errors in scripts, and requests without a script. */
  readonly faults: readonly unknown[]
  script(...scripts: readonly WireScript[]): void
  /** The next exchange to arrive. */
  arrival(): Promise<WireExchange>
  close(): Promise<void>
}

/** Starts a server on a free port of the loopback interface. */
export async function startWireServer(): Promise<WireServer> {
  const requests: WireRequest[] = []
  const faults: unknown[] = []
  const scripts: WireScript[] = []
  const arrivals: ((exchange: WireExchange) => void)[] = []
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((fault: unknown) => faults.push(fault))
  })

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const exchange = toExchange(await readRequest(incoming), outgoing)
    requests.push(exchange.request)
    const script = scripts.shift()
    arrivals.shift()?.(exchange)
    if (script === undefined) {
      exchange.answer(400, { error: { message: 'no script for this request' } })
      throw new Error(`request ${requests.length} has no script`)
    }
    await script(exchange)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults,
    script: (...more) => void scripts.push(...more),
    arrival: () => new Promise((resolve) => arrivals.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readRequest(incoming: IncomingMessage): Promise<WireRequest> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return { path: incoming.url ?? '', headers: incoming.headers, body: JSON.parse(text) }
}

function toExchange(request: WireRequest, outgoing: ServerResponse): WireExchange {
  const closed = Promise.withResolvers<void>()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) closed.resolve()
  })
  return {
    request,
    send(...texts) {
      if (!outgoing.headersSent) outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const text of texts) outgoing.write(text)
      if (texts.length === 0) outgoing.flushHeaders()
    },
    end: () => void outgoing.end(),
    answer(status, body = '', headers = {}) {
      const isText = typeof body === 'string'
      outgoing.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
      outgoing.end(isText ? body : JSON.stringify(body))
    },
    drop: () => void outgoing.destroy(),
    get isEnded() {
      return outgoing.writableEnded || outgoing.destroyed
    },
    closedByClient: closed.promise,
  }
}

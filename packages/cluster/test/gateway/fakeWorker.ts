import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** A worker that answers whatever it is told with what `answer` says. */
export async function fakeWorker(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  answer: (text: string) => readonly unknown[],
  options: ServerOptions = {},
) {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options })
  await once(sockets, 'listening')
  const seen = { connections: 0, closed: 0 }
  const closing: (() => void)[] = []
  sockets.on('connection', (socket) => {
    seen.connections += 1
    socket.on('close', () => {
      seen.closed += 1
      for (const resolve of closing.splice(0)) resolve()
    })
    socket.on('message', (data: Buffer) => {
      for (const one of answer(data.toString()))
        socket.send(typeof one === 'string' || one instanceof Uint8Array ? one : JSON.stringify(one))
    })
  })
  cleanup(() => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
  })
  const each = (work: (socket: WebSocket) => void): void => sockets.clients.forEach(work)
  return {
    url: `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/bridge`,
    seen,
    /** Resolves when so many clients have gone. */
    async left(count: number): Promise<void> {
      while (seen.closed < count) await new Promise<void>((resolve) => closing.push(resolve))
    },
    /** Tells every client something unasked. */
    say: (frame: object): void => each((socket) => socket.send(JSON.stringify(frame))),
    /** Cuts every client off. */
    cut: (): void => each((socket) => socket.terminate()),
  }
}

/** With which it lets a client in. */
export const welcome = {
  type: 'welcome',
  sessionId: 's',
  role: 'admin',
  definitions: ['echo'],
  limits: { maxFrameBytes: 1, framesPerSecond: 1, maxSubscriptions: 1 },
}

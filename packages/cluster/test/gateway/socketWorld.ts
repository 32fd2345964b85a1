import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { AgentFinder } from '../../src/gateway/agentFinder.ts'
import { Beginnings } from '../../src/gateway/beginnings.ts'
import { SocketRelay } from '../../src/gateway/socketRelay.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** Resolves once it is so; the deadline of the case ends it otherwise. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await wait(1)
}

type Heard = readonly Record<string, unknown>[]

/** A worker that says what the case has it say. */
export async function bareWorker({ cleanup }: Pick<CaseContext, 'cleanup'>) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const heard: Record<string, unknown>[] = []
  const asked: IncomingMessage[] = []
  const codes: number[] = []
  server.on('connection', (socket, request) => {
    asked.push(request)
    socket.on('message', (data: Buffer) => void heard.push(JSON.parse(data.toString()) as Record<string, unknown>))
    socket.on('close', (code) => void codes.push(code))
  })
  cleanup(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const each = (work: (socket: WebSocket) => void): void => server.clients.forEach(work)
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/bridge`,
    heard: heard as Heard,
    asked,
    codes,
    say: (frame: object | string): void =>
      each((socket) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))),
    close: (code: number, reason: string): void => each((socket) => socket.close(code, reason)),
    cut: (): void => each((socket) => socket.terminate()),
  }
}

/** A relay between a client of the case and these workers; agent `a0` is at the first, `a1` at the second. */
export function relayTo(
  urls: readonly string[],
  {
    waiting = 100,
    highWaterBytes = 1_000,
    looked,
  }: { waiting?: number; highWaterBytes?: number; looked?: Promise<void> } = {},
) {
  const [sent, lost]: [string[], string[]] = [[], []]
  const closed: { readonly code: number; readonly reason: string }[] = []
  const left: (() => void)[] = []
  let [take, leave] = [(_: string): void => {}, (): void => {}]
  const socket = {
    bufferedAmount: 0,
    send: (text: string, done?: () => void) => {
      sent.push(text)
      if (done !== undefined) left.push(done)
    },
    close: (code: number, reason: string) => void closed.push({ code, reason }),
    onText: (listener: (text: string) => void) => void (take = listener),
    onClose: (listener: () => void) => void (leave = listener),
  }
  const finder = {
    workers: async () => urls,
    find: async ({ agentId }: { readonly agentId: string }) => {
      await looked
      const url = urls[Number(agentId.slice(1))]
      if (url === undefined) throw new Error(`${agentId} is nowhere`)
      return { url, isPlaced: true }
    },
  } as unknown as AgentFinder
  const tokenFor = (url: string): string => `token for ${url}`
  const beginnings = new Beginnings(systemClock)
  new SocketRelay(socket, {
    finder,
    beginnings,
    who: undefined,
    path: '/acp',
    tokenFor,
    highWaterBytes,
    waiting,
    lost: (url, why) => void lost.push(`${url} ${why}`),
  })
  return {
    socket,
    sent: (): Heard => sent.map((text) => JSON.parse(text) as Record<string, unknown>),
    texts: sent,
    beginnings,
    closed,
    lost,
    /** Tells that everything sent has left. */
    drain: () => left.splice(0).forEach((done) => done()),
    say: (frame: object | string) => take(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    leave: () => leave(),
  }
}

export const rpc = (method: string, sessionId?: string, id?: number) => ({
  jsonrpc: '2.0',
  method,
  ...(id === undefined ? {} : { id }),
  ...(sessionId === undefined ? {} : { params: { sessionId } }),
})

export async function world(context: CaseContext, options: Parameters<typeof relayTo>[1] = {}) {
  const [one, other] = [await bareWorker(context), await bareWorker(context)]
  const client = relayTo([one.url, other.url], options)
  context.cleanup(() => client.leave())
  return { one, other, client }
}

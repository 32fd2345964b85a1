import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { forwardRequest } from '../../src/gateway/forwardRequest.ts'

/** A response of the gateway whose client the case plays. */
class Given extends EventEmitter {
  destroyed = false
  headersSent = false
  text = ''
  readonly writableLength = 0

  writeHead(): void {
    this.headersSent = true
  }

  flushHeaders(): void {}

  write(piece: Buffer): boolean {
    this.text += piece.toString()
    this.emit('wrote')
    return true
  }

  end(): void {
    this.emit('finish')
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

/** A gateway that asks a worker which answers so; `leaves`: called once the worker has begun to answer. */
async function forwarded(
  { cleanup }: CaseContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const seen = { tries: 0, begun: 0, reached: 0, lost: [] as string[] }
  const worker = createServer((request, response) => {
    seen.tries += 1
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(worker, 'listening')
  cleanup(() => {
    worker.closeAllConnections()
    worker.close()
  })
  const url = `ws://127.0.0.1:${(worker.address() as AddressInfo).port}/bridge`
  const clock = simulatedClock()
  const finder = { down: { reached: () => (seen.reached += 1) }, find: async () => ({ url }) }
  const response = new Given()
  const forward = (begun: () => void = () => {}): Promise<void> =>
    forwardRequest(
      { finder, clock, lost: (_: string, why: string) => void seen.lost.push(why) } as never,
      {
        request: { method: 'GET', headers: {} },
        response,
        target: { path: '/', isOwn: false },
        body: undefined,
        agentId: 'a',
        tokenFor: () => 'token',
        begun: () => {
          seen.begun += 1
          begun()
        },
      } as never,
    )
  return { seen, response, forward, clock }
}

describe('an answer of a worker that a gateway hands on', (it) => {
  it('is over where it is whole, and breaks off where that breaks off, without another try', async (context) => {
    for (const isWhole of [true, false]) {
      const { seen, response, forward, clock } = await forwarded(context, (_, given) => {
        given.writeHead(200, { 'content-length': 4 })
        if (isWhole) given.end('half')
        else given.write('ha', () => given.destroy())
      })
      await forward()
      assert.equal([response.text, response.destroyed], isWhole ? ['half', false] : ['ha', true])
      assert.equal([seen, clock.pending], [{ tries: 1, begun: 1, reached: 1, lost: [] }, 0])
    }
  })

  it('is not taken where its client has left before or while it comes, and no worker counts as lost for that', async (context) => {
    for (const when of ['asked', 'begun', 'answered'] as const) {
      const over = Promise.withResolvers<void>()
      const asked = Promise.withResolvers<void>()
      const { seen, response, forward } = await forwarded(context, (request, given) => {
        request.socket.on('close', () => over.resolve())
        asked.resolve()
        if (when !== 'asked') given.writeHead(200).write('first')
      })
      const leave = (): void => response.destroy()
      const forwarding = forward(when === 'begun' ? leave : () => {})
      if (when === 'asked') void asked.promise.then(leave)
      if (when === 'answered') response.once('wrote', leave)
      await Promise.all([forwarding, over.promise])
      assert.equal([seen.tries, seen.lost, response.headersSent], [1, [], when === 'answered'], when)
    }
  })
})

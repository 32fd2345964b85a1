import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { serve } from '../../src/server/serve.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'

async function prepared({ cleanup }: Pick<CaseContext, 'cleanup'>) {
  const said: (string | undefined)[] = []
  const store = { ...memoryStore(), announce: async (url: string | undefined) => void said.push(url) }
  const clock = simulatedClock()
  const runtime = await createRuntime({ store, clock })
  const own = createServer((_, response) => response.end('mine'))
  cleanup(() => runtime.close().catch(() => {}))
  cleanup(() => new Promise((resolve) => own.close(resolve) && own.closeAllConnections()))
  return { runtime, store, clock, own, said }
}

const listening = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Status of an upgrade that is refused, or `cut`. */
const upgrade = (port: number, path: string): Promise<number | string> =>
  new Promise((resolve) => {
    const headers = { connection: 'upgrade', upgrade: 'websocket' }
    get({ port, path, headers, host: '127.0.0.1', agent: false })
      .on('response', (answer: IncomingMessage) => resolve(answer.resume().statusCode!))
      .on('error', () => resolve('cut'))
  })

describe('what serves on the server of an application', (it) => {
  it('refuses sockets at other paths only where nobody else listens, and leaves no listener behind', async (context) => {
    const { runtime, own } = await prepared(context)
    const server = await runtime.serve({ server: own })
    const port = await listening(own)
    assert.is(await upgrade(port, '/other'), 404)
    own.on('upgrade', (request, socket) => {
      if (request.url === '/other') socket.end('HTTP/1.1 418 Mine\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    })
    assert.is(await upgrade(port, '/other'), 418)
    await server.close()
    assert.is(own.listenerCount('upgrade'), 1)
    assert.ok(own.listening)
  })

  it('announces nothing once it is closed, also where the server listens only then', async (context) => {
    const { runtime, own, said } = await prepared(context)
    const server = await runtime.serve({ server: own })
    await server.close()
    await listening(own)
    assert.equal(said, [])
    const again = await runtime.serve({ server: own })
    assert.equal(said, [again.url])
  })
})

describe('a server', (it) => {
  it('that cannot listen lets go of all it has begun', async (context) => {
    const { runtime, clock, store, own } = await prepared(context)
    const port = await listening(own)
    let closed = 0
    let following = 0
    const spied = new Proxy(runtime, {
      get(target, name) {
        if (name !== 'onAgent') return Reflect.get(target, name) as unknown
        return () => {
          following += 1
          return () => void (following -= 1)
        }
      },
    })
    const dispatch = { command: () => {}, begin: () => {}, close: () => void (closed += 1) }
    const failing = serve(spied, { store, clock }, { port, dispatch: dispatch as never })
    await assert.rejects(failing, withCode('BRIDGE_LISTEN_FAILED'))
    assert.equal([closed, following, clock.pending], [1, 0, 0])
  })

  it('tells answers under way that it closes, waits for no longer than they take, and leaves no timer', async (context) => {
    const { runtime, clock } = await prepared(context)
    const held: Endpoint = {
      path: '/held',
      answer(_, response, __, answering) {
        response.write('so far')
        answering.onLeave(() => response.end(', and the end'))
      },
    }
    const server = await runtime.serve({ endpoints: [held], limits: { drainMs: 1_000 } })
    const answer = await fetch(`http://127.0.0.1:${server.port}/held`)
    const text = answer.text()
    await server.close()
    assert.equal([await text, clock.pending], ['so far, and the end', 0])
  })
})

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { gate } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { acp } from '../../../acp/src/acp.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'

/** An endpoint whose answers never end. */
const held: Endpoint = { path: '/held', answer: (_, response) => void response.writeHead(200).write('held') }

describe('a server that closes', (it) => {
  it('lets nobody in any more, whoever is asked about meanwhile, and waits so long for who does not go', async ({
    cleanup,
  }) => {
    const [clock, asked, decided] = [simulatedClock(), [gate(), gate()], gate()]
    const runtime = await createRuntime({ store: memoryStore(), clock })
    cleanup(() => runtime.close().catch(() => {}))
    let slow = 0
    const server = await runtime.serve({
      endpoints: [held, agUi(), acp()],
      async authenticate(_, token) {
        if (token === 'slow') {
          asked[slow++]!.resolve()
          await decided.promise
        }
        return { role: 'admin' }
      },
      limits: { drainMs: 1_000 },
    })
    const { port } = server
    const ask = (path: string, token: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
    const staying = (await ask('/held', 'quick')).text()
    assert.is(server.connections, 1)
    const late = ask('/ag-ui', 'slow')
    await asked[0]!.promise
    const socket = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: { authorization: 'Bearer slow' } })
    socket.on('error', () => {})
    const refused = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>
    await asked[1]!.promise
    let isClosed = false
    const closing = server.close().then(() => (isClosed = true))
    assert.is((await ask('/ag-ui', 'quick')).status, 503)
    decided.resolve()
    assert.is((await late).status, 503)
    const [, answer] = await refused
    assert.is(answer.statusCode, 503)
    socket.terminate()
    await clock.advance(999)
    assert.is(isClosed, false)
    await clock.advance(1)
    await closing
    await assert.rejects(staying)
    assert.equal([server.connections, clock.pending], [0, 0])
  })
})

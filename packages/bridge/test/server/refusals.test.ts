import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import { RefusalLog } from '../../src/server/refusalLog.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { dial, serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const token = 'a-token-of-the-operator'

interface Line {
  readonly refused?: string
  readonly origin?: string
  readonly path?: string
  readonly count?: number
}

function keeper(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const nothing = (): void => {}
  const warn = (fields: object): void => void ('refused' in fields && lines.push(fields as Line))
  return { lines, logger: { debug: nothing, info: nothing, error: nothing, warn } }
}

describe('the log of a server', (it) => {
  it('has a line for whoever was turned away', async (context) => {
    const { logger, lines } = keeper()
    const serving = await serveAgents(context, [echo], {
      tokens: { [token]: 'admin' },
      limits: { connections: 1, drainMs: 50 },
      runtime: { logger },
    })
    const { url, port } = serving.server
    const refused = async (expected: Partial<Line>, act: () => Promise<unknown>): Promise<void> => {
      lines.length = 0
      await act()
      assert.equal(
        lines.map((line) => Object.fromEntries(Object.keys(expected).map((key) => [key, line[key as keyof Line]]))),
        [expected],
      )
    }
    const failed = (to: string, headers = {}): Promise<unknown> => assert.rejects(dial(to, headers))
    await refused({ refused: 'origin', origin: 'http://localhost:5173', path: '/bridge' }, () =>
      failed(url, { origin: 'http://localhost:5173' }),
    )
    await refused({ refused: 'path', path: '/brigde' }, () => failed(url.replace('/bridge', '/brigde?secret')))
    await refused({ refused: 'path', path: '/nothing' }, () => fetch(`http://127.0.0.1:${port}/nothing`))
    await refused({ refused: 'token', path: '/agents/a/chart.svg' }, () =>
      fetch(`http://127.0.0.1:${port}/agents/a/chart.svg`),
    )
    const closed = async (hello: object): Promise<unknown> => (await serving.dial({ hello })).closed
    await refused({ refused: 'token' }, () => closed({ token: 'a-token-of-nobody-at-all' }))
    await refused({ refused: 'session' }, () => closed({ token, sessionId: 'made.up' }))
    await refused({ refused: 'hello' }, async () => {
      const bare = await serving.dial()
      bare.send({ type: 'agent.list', id: '1' })
      await bare.closed
    })
    await serving.connect({ token }).ready
    await refused({ refused: 'full' }, () => failed(url, { authorization: `Bearer ${token}` }))
    const open = await serveAgents(context, [echo], { runtime: { logger } })
    await refused({ refused: 'protocol' }, () =>
      fetchStatus(open.server.port, '/bridge', { 'Sec-WebSocket-Protocol': 'other' }),
    )
    await refused({ refused: 'host', path: '/' }, () => fetchStatus(open.server.port, '/', { host: 'evil.example' }))
  })

  it('is not filled by a flood, and says how many more there were', async () => {
    const clock = simulatedClock()
    const { logger, lines } = keeper()
    const refusals = new RefusalLog(logger, clock)
    for (let n = 0; n < 1_000; n += 1) refusals.log('token', 'no', { path: 'x'.repeat(10_000) })
    refusals.log('origin', 'no')
    assert.is(lines.length, 6)
    assert.ok(JSON.stringify(lines).length < 5_000)
    await clock.advance(60_000)
    assert.equal(lines.at(-1), { refused: 'token', count: 995 })
    assert.is(lines.length, 7)
    assert.is(clock.pending, 0)
    for (let n = 0; n < 7; n += 1) refusals.log('token', 'no')
    refusals.close()
    assert.equal(lines.at(-1), { refused: 'token', count: 2 })
    assert.is(clock.pending, 0)
  })

  it('harms nobody when it throws', async (context) => {
    const fail = (): never => {
      throw new Error('the disk is full')
    }
    const logger = { debug: fail, info: fail, warn: fail, error: fail }
    const serving = await serveAgents(context, [echo], { tokens: { [token]: 'admin' }, runtime: { logger } })
    await assert.rejects(dial(serving.server.url, { origin: 'http://evil.example' }), /403/)
    await serving.connect({ token }).ready
  })
})

/** The status of an answer to a request with headers that `fetch` does not let one set. */
async function fetchStatus(port: number, path: string, headers: Record<string, string>): Promise<number> {
  const { request } = await import('node:http')
  const isSocket = path === '/bridge'
  const upgrade = isSocket
    ? {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      }
    : {}
  return await new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path, headers: { ...upgrade, ...headers } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end()
  })
}

import { once } from 'node:events'
import { createServer, request as ask, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import type { AgentFinder } from '../../src/gateway/agentFinder.ts'
import { forwardRequest } from '../../src/gateway/forwardRequest.ts'

async function serving({ cleanup }: Pick<CaseContext, 'cleanup'>, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A gateway before a worker that answers so. */
async function world(context: CaseContext, answer: RequestListener) {
  const host = await serving(context, answer)
  const [lost, failures]: [string[], unknown[]] = [[], []]
  const down = { reached: () => {} }
  const url = `ws://${host}/bridge`
  const finder = { down, find: async () => ({ url, isPlaced: false }) } as unknown as AgentFinder
  const front = await serving(context, (request, response) => {
    const parts = { finder, clock: simulatedClock(), lost: (_: string, why: string) => void lost.push(why) }
    const target = { path: request.url ?? '/', isOwn: false }
    const tokenFor = () => 'of the gateway'
    const forwarding = { request, response, target, body: undefined, agentId: 'a', tokenFor, begun: () => {} }
    forwardRequest(parts, forwarding).catch((thrown: unknown) => {
      failures.push(thrown)
      response.writeHead(502).end()
    })
  })
  const get = async (headers: Record<string, string> = {}): Promise<IncomingHttpHeaders> => {
    const asked = ask(`http://${front}/agents`, { headers, agent: false })
    asked.end()
    const [answered] = (await once(asked, 'response')) as [{ headers: IncomingHttpHeaders; resume(): void }]
    answered.resume()
    return answered.headers
  }
  return { get, lost, failures, host }
}

/** Headers that are the gateway's own to say, or of one connection. */
const keptBack = [
  'cookie',
  'forwarded',
  'origin',
  'proxy-authorization',
  'referer',
  'te',
  'keep-alive',
  'sec-fetch-site',
  'sec-websocket-protocol',
]

describe('a request that goes on to a worker', (it) => {
  it('has its headers, but for those that say who the client is and those of one connection', async (context) => {
    const heard: IncomingHttpHeaders[] = []
    const { get, host } = await world(context, ({ headers }, response) => {
      heard.push(headers)
      response.end()
    })
    const given = Object.fromEntries(keptBack.map((name) => [name, 'of the client']))
    await get({ ...given, authorization: 'Bearer mine', accept: 'text/plain', 'last-event-id': '7', host: 'gateway' })
    const [{ connection: _, ...headers }] = heard as [IncomingHttpHeaders]
    assert.equal(headers, { accept: 'text/plain', 'last-event-id': '7', authorization: 'Bearer of the gateway', host })
  })

  it('is answered with the headers of the answer, but for those that the gateway sets itself', async (context) => {
    const { get } = await world(context, (_, response) => {
      response.writeHead(200, {
        'set-cookie': 'a=1',
        'access-control-allow-origin': '*',
        'content-length': 2,
        'content-type': 'text/plain',
        'x-more': 'x',
      })
      response.end('ok')
    })
    const { connection: _, date: __, 'keep-alive': ___, ...headers } = await get()
    assert.equal(headers, { 'content-length': '2', 'content-type': 'text/plain', 'x-more': 'x' })
  })

  it('has the head of a stream at once, before anything is said in it', async (context) => {
    const { get } = await world(context, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
    })
    assert.is((await get())['content-type'], 'text/event-stream')
  })

  it('is tried at three workers, and then refused', async (context) => {
    const tries: string[] = []
    const { get, lost, failures } = await world(context, (request) => {
      tries.push(request.url!)
      request.socket.destroy()
    })
    await get()
    assert.equal([tries.length, lost.length, failures.length], [3, 3, 1])
    assert.throws(() => {
      throw failures[0]
    }, withCode('AGENT_UNREACHABLE'))
  })
})

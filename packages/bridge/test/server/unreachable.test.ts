import { createServer, type AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { bridgeUrl, type ConnectOptions, type WebSocketConstructor } from '../../src/client/connectOptions.ts'
import { connect } from '../../src/client/connect.ts'
import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

const nowhere = async (): Promise<string> => `ws://127.0.0.1:${await freePort()}/bridge`

/** As a page of another origin. */
class ForeignPage extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { origin: 'http://localhost:5173' })
  }
}

/** A client, and the first error it hears of. */
function trying({ cleanup }: CaseContext, url: string, options: ConnectOptions = {}) {
  const client = connect(url, { retry: { baseMs: 1, maxMs: 2 }, ...options })
  cleanup(() => client.close())
  const errors: ErrorInfo[] = []
  const told = new Promise<ErrorInfo>((resolve) =>
    client.onError((error) => {
      errors.push(error)
      resolve(error)
    }),
  )
  return { client, told, errors }
}

describe('a client that cannot connect', (it) => {
  const causes: readonly [
    string,
    (port: number) => Promise<string> | string,
    WebSocketConstructor | undefined,
    RegExp,
  ][] = [
    ['nobody there', nowhere, WebSocket, /ECONNREFUSED/],
    ['nobody there, of which the global WebSocket says nothing', nowhere, undefined, /no connection to ws:/i],
    ['another path', (port) => `ws://127.0.0.1:${port}/brigde`, WebSocket, /404/],
    ['another path, of which it says nothing', (port) => `ws://127.0.0.1:${port}/brigde`, undefined, /ws:/],
    ['a page of another origin', (port) => `ws://127.0.0.1:${port}/bridge`, ForeignPage, /403/],
  ]
  for (const [cause, urlOf, webSocket, says] of causes) {
    it(`hears once why that may be, and goes on trying: ${cause}`, async (context) => {
      const { server } = await serveAgents(context, [echo])
      const clock = simulatedClock()
      const options = { clock, ...(webSocket === undefined ? {} : { webSocket }) }
      const { client, told, errors } = trying(context, await urlOf(server.port), options)
      const { code, message } = await told
      assert.is(code, 'BRIDGE_UNREACHABLE')
      assert.match(message, says)
      assert.match(message, '"origins"')
      assert.is(client.status, 'connecting')
      const { retryAt } = client
      assert.is(typeof retryAt, 'number')
      await clock.advance(10)
      assert.is(client.status, 'connecting')
      assert.is(errors.length, 1)
    })
  }

  it('gives up after its time, with whatever waits', async (context) => {
    const clock = simulatedClock()
    const url = await nowhere()
    const { client, told } = trying(context, url, {
      clock,
      connectTimeoutMs: 5_000,
      retry: { baseMs: 60_000, maxMs: 60_000 },
    })
    const waiting = [client.ready, client.agents(), client.spawn('echo'), client.agent('a').abort()]
    const refused = waiting.map((promise) => assert.rejects(promise, withCode('BRIDGE_UNREACHABLE', url)))
    const run = client.agent('a').prompt('x')
    await told
    await clock.advance(4_999)
    assert.is(client.status, 'connecting')
    await clock.advance(1)
    assert.is(client.status, 'closed')
    await Promise.all(refused)
    assert.is((await run.result).error?.code, 'BRIDGE_UNREACHABLE')
    await assert.rejects(client.agents(), withCode('BRIDGE_UNREACHABLE'))
    assert.is(clock.pending, 0)
  })

  it('gives up on a server that takes the connection and says nothing, too', async (context) => {
    const clock = simulatedClock()
    const mute = createServer((socket) => context.cleanup(() => socket.destroy()))
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    context.cleanup(() => mute.close())
    const url = `ws://127.0.0.1:${(mute.address() as AddressInfo).port}`
    const { client } = trying(context, url, { clock, connectTimeoutMs: 3_000 })
    await clock.advance(3_000)
    await assert.rejects(client.ready, withCode('BRIDGE_UNREACHABLE', 'no welcome came within 3000 ms'))
  })

  it('has no such time once it was connected', async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo])
    const client = serving.connect({ clock, connectTimeoutMs: 1_000 })
    await client.ready
    await serving.server.close()
    await clock.advance(2_000)
    assert.not.equal(client.status, 'closed')
    const errors: ErrorInfo[] = []
    client.onError((error) => errors.push(error))
    assert.equal(errors, [])
  })
})

describe('the URL of a bridge', (it) => {
  it('may be that of the server that has it', () => {
    for (const [written, url] of [
      ['ws://host:1/bridge', 'ws://host:1/bridge'],
      ['wss://host/own/path?x=1', 'wss://host/own/path?x=1'],
      ['ws://host:1', 'ws://host:1/bridge'],
      ['wss://host/', 'wss://host/bridge'],
      ['http://host:1', 'ws://host:1/bridge'],
      ['https://host/', 'wss://host/bridge'],
      ['https://host/base', 'wss://host/base/bridge'],
      ['https://host/base/', 'wss://host/base/bridge'],
      ['http://host/bridge/', 'ws://host/bridge'],
      ['http://[::1]:8080/bridge', 'ws://[::1]:8080/bridge'],
      ['http://localhost:8765/#/agents', 'ws://localhost:8765/bridge'],
    ] as const)
      assert.is(bridgeUrl(written), url)
    for (const written of ['', 'host:1', 'ftp://host', 'ws://', '/bridge'])
      assert.throws(() => bridgeUrl(written), withCode('INVALID_OPTION', 'ws://'))
  })

  it('of plain HTTP connects', async (context) => {
    const serving = await serveAgents(context, [echo])
    await serving.connect({}, `http://127.0.0.1:${serving.server.port}`).ready
  })
})

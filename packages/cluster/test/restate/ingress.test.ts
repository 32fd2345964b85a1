import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as clients from '@restatedev/restate-sdk-clients'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { Ingress } from '../../src/restate/ingress.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

/** An engine whose connections break: so many milliseconds pass before that, by the clock of who asks; then it answers. */
async function breaking({ cleanup }: CaseContext, heldMs: readonly number[]) {
  let passed = 0
  let asked = 0
  const server = createServer((request, response) => {
    const held = heldMs[asked]
    asked += 1
    if (held === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"done","seq":3}')
      return
    }
    passed += held
    request.socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock = {
    ...systemClock,
    now: () => passed,
    after: (_: number, then: () => void) => systemClock.after(0, then),
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ingress = new Ingress({ clients, url, headers: {}, name: 'agent', clock, patienceMs: 10_000 })
  cleanup(() => {
    ingress.close()
    server.close()
    server.closeAllConnections()
  })
  return { call: () => ingress.call({ agentId: 'a', verb: 'prompt', body: {}, requestId: 'r' }), asked: () => asked }
}

describe('what a client asks of an engine', (it) => {
  it('is asked again after each connection that broke in the middle of long work', async (context) => {
    const minute = 60_000
    const { call, asked } = await breaking(context, [0, 3 * minute, 0, 2 * minute, minute])
    assert.equal(await call(), { status: 'done', seq: 3 })
    assert.is(asked(), 6)
  })

  it('is given up where nothing but broken connections comes back', async (context) => {
    const { call } = await breaking(
      context,
      Array.from({ length: 100 }, () => 500),
    )
    await assert.rejects(call(), withCode('ENGINE_UNREACHABLE'))
  })
})

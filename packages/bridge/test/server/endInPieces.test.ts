import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endInPieces } from '../../src/server/endInPieces.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const large = 'x'.repeat(1_000_000)

describe('a response that ends in pieces', (it) => {
  const cases: readonly (readonly [string, (response: ServerResponse) => unknown, readonly unknown[]])[] = [
    ['has its length', (response) => response.end(large), [200, '1000000', 1_000_000]],
    ['follows what was written', (response) => (response.write('x'), response.end(large)), [200, null, 1_000_001]],
    ['has no length without a body', (response) => response.writeHead(204) && response.end(large), [204, null, 0]],
    [
      'has none before its head is written',
      (response) => Object.assign(response, { statusCode: 204 }).end(large),
      [204, null, 0],
    ],
  ]
  for (const [what, respond, expected] of cases)
    it(what, async (context) => {
      const server = createServer((_, response) => {
        endInPieces(response)
        respond(response)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      context.cleanup(() => void server.close())
      const { port } = server.address() as AddressInfo
      const answer = await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })
      const { length } = await answer.text()
      assert.equal([answer.status, answer.headers.get('content-length'), length], expected)
    })
})

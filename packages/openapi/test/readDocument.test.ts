import { openApiTools } from '../src/openApiTools.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { failure, startService } from './service.ts'

describe('an OpenAPI document at an address', (it) => {
  it('is read no further than the largest one goes, and its address is told without what may be secret', async (context) => {
    let sent = 0
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const block = Buffer.alloc(1024 * 1024, 32)
    const service = await startService(context, ({ url }, response) => {
      if (url.startsWith('/none')) return void response.writeHead(404).end()
      if (url.startsWith('/text')) return void response.end('{"openapi": nothing}')
      response.on('close', resolve)
      const more = (): void => {
        while (!response.destroyed) {
          sent += block.length
          if (!response.write(block)) return void response.once('drain', more)
        }
      }
      more()
    })
    const query = '?apiKey=hunter2-hunter2#hunter3'
    assert.match(
      await failure(openApiTools(`${service.url}/endless${query}`)),
      /\/endless could not be read: it has more than 33554432 bytes/,
    )
    await left
    assert.ok(sent < 64 * 1024 * 1024)
    const withPassword = service.url.replace('//', '//ann:hunter2-hunter2@')
    for (const [address, says] of [
      [`${service.url}/none${query}`, /\/none could not be read: the answer was 404/],
      [`${service.url}/text${query}`, /\/text is not JSON/],
      [`${withPassword}/a`, /\/a could not be read: the address holds a name or password/],
      [`http://ann:hunter2-hunter2@[nowhere]/a${query}`, /"http:\/\/\[nowhere\]\/a" is no address/],
    ] as const) {
      const message = await failure(openApiTools(address))
      assert.match(message, says)
      assert.not.match(message, /hunter|ann:/)
    }
  })

  for (const [text, paths] of [
    ['openapi: 3.1', 'paths: { /pets: { get: {} } }'],
    ['openapi: 3.0', 'paths: { /pets: { get: { responses: {} } } }'],
    ['openapi: "3.0"', 'paths: { /pets: { get: { responses: {} } } }'],
    ['swagger: 2.0', 'host: a.example\npaths: { /pets: { get: { responses: {} } } }'],
    ['\uFEFF{"openapi":"3.1.0",', '"paths":{"/pets":{"get":{}}}}'],
  ] as const)
    it(`may say its version as YAML makes it a number: ${text}`, async () => {
      const { operations } = await openApiTools(`${text}\n${paths}`, { servers: ['https://a.example'] })
      assert.equal(
        operations.map(({ path }) => path),
        ['/pets'],
      )
    })
})

import { isLikelyBug } from '../../../src/protocol/callbackBugs.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { failure, oneTool, startService, use } from './service.ts'

const parameter = (place: string) => ({ name: 'q', in: place, schema: {} })

describe('arguments that are part of an address', (it) => {
  for (const value of [
    '../../admin',
    '..\\admin',
    'a/../b',
    '..;/admin',
    '..;x=1',
    './a',
    'a/.',
    '..%2f..%2fadmin',
    '%2e%2e%2fadmin',
    '%252e%252e%252fadmin',
    '%2525252525252e',
  ])
    it(`never lead out of their place: ${JSON.stringify(value)}`, async (context) => {
      const service = await startService(context)
      const tool = await oneTool(service.url, { parameters: [parameter('path')] }, { path: '/admin/{q}/x' })
      assert.match(await failure(use(tool, { q: value })), /leads to another one/)
      assert.equal(service.asked, [])
    })

  it('may hold slashes and dots', async (context) => {
    const service = await startService(context)
    const tool = await oneTool(service.url, { parameters: [parameter('path')] }, { path: '/files/{q}' })
    for (const q of ['a/b', 'a..b/...', '.env', 'a%2e', '100%']) await use(tool, { q })
    assert.equal(
      service.asked.map(({ url }) => url),
      ['/files/a%2Fb', '/files/a..b%2F...', '/files/.env', '/files/a%252e', '/files/100%25'],
    )
  })

  it('are well formed, whatever a model wrote', async (context) => {
    const service = await startService(context)
    const tool = await oneTool(service.url, { parameters: [parameter('query')] })
    await use(tool, { q: 'a\ud800' })
    assert.is(service.asked.at(-1)!.url, '/pets?q=a%EF%BF%BD')
  })
})

describe('an argument that is a header', (it) => {
  for (const value of ['a\r\nEvil: 1', 'a→b'])
    it(`is refused, and told its model, where no header can hold it: ${JSON.stringify(value)}`, async (context) => {
      const service = await startService(context)
      const tool = await oneTool(service.url, { parameters: [parameter('header')] })
      await assert.rejects(use(tool, { q: value }), (thrown) => {
        assert.match((thrown as Error).message, /^q is sent as a header, which can hold neither line breaks/)
        return !isLikelyBug(thrown)
      })
      assert.equal(service.asked, [])
    })
})

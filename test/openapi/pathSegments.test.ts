import { assert, describe } from '../support/suite.ts'
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
})

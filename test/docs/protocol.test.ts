import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { protocolPage, protocolSchema } from '../../scripts/protocolPage.ts'
import { assert, describe } from '../support/suite.ts'

const docs = join(import.meta.dirname, '..', '..', 'docs')

describe('the protocol reference', (it) => {
  it('is what `npm run docs` makes of the schemas', async () => {
    assert.is(await readFile(join(docs, 'protocol.md'), 'utf8'), protocolPage())
    assert.is(await readFile(join(docs, 'protocol.schema.json'), 'utf8'), protocolSchema())
  })

  it('has a row for every frame', () => {
    const page = protocolPage()
    for (const type of ['hello', 'agent.prompt', 'agent.decide', 'agent.subscribe', 'welcome', 'caughtUp', 'lagging'])
      assert.match(page, `| \`${type}\` |`)
  })
})

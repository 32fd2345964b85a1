import { contentOf } from '../src/threadMessages.ts'
import { blocksOf } from '../src/userInput.ts'
import { contentBlock } from '../../acp/src/toolCallShape.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const url = 'https://pictures.example/cat.png'

describe('images by address at front ends and editors', (it) => {
  it('come from AG-UI and go back to it, with their type or without', () => {
    const sources = [
      { type: 'url' as const, value: url },
      { type: 'url' as const, value: url, mimeType: 'image/png' },
    ]
    const content = sources.map((source) => ({ type: 'image' as const, source }))
    const blocks = blocksOf({ id: 'm1', role: 'user', content })
    assert.equal(blocks, [
      { type: 'image', url },
      { type: 'image', url, mimeType: 'image/png' },
    ])
    assert.equal(contentOf(blocks), content)
  })

  it('are links over ACP, which has room for bytes alone', () => {
    assert.equal(contentBlock({ type: 'image', url }), { type: 'resource_link', name: url, uri: url })
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    assert.equal(contentBlock(image), image)
  })
})

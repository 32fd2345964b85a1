import { growingTail } from '../../../src/inspector/model/conversation/growingTail.ts'
import { beginningWorthCutting } from '../../../src/inspector/model/words/shortText.ts'
import { growMarkdown } from '../../../../charts/src/text/growingMarkdown.ts'
import { textOfBlocks } from '../../../../charts/src/text/markdownTree.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const tail = (source: string, most: number): readonly unknown[] => {
  const { blocks, first, isCut } = growingTail(growMarkdown(source), most)
  return [textOfBlocks(blocks), first, isCut]
}

describe('the end of a text that grows', (it) => {
  it('is whole blocks, as many as there is room for', () => {
    assert.equal(tail('# a\n\nbbb\n\nccc', 100), ['a\nbbb\nccc', 0, false])
    assert.equal(tail('# a\n\nbbb\n\nccc', 4), ['bbb\nccc', 1, true])
    assert.equal(tail('', 4), ['', 0, false])
  })

  it('is the end of its last block when that alone is longer', () => {
    assert.equal(tail('a\n\n```ts\nconst a = 1', 5), ['a = 1', 1, true])
    assert.equal(tail('a\n\none **two** three', 5), ['three', 1, true])
  })
})

describe('the beginning of a long text', (it) => {
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${index}\n`).join('')
  it('is all of it where only a few lines would be left out', () => {
    const limits = { lines: 12, chars: 1_200 }
    assert.is(beginningWorthCutting(lines(17), limits), lines(17))
    assert.is(beginningWorthCutting(lines(40), limits), lines(12).trimEnd())
    assert.is(beginningWorthCutting('x'.repeat(1_600), limits).length, 1_600)
    assert.is(beginningWorthCutting('x'.repeat(1_800), limits).length, 1_200)
  })
})

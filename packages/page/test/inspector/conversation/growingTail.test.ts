import { growingTail, textTail } from '../../../src/inspector/model/conversation/growingTail.ts'
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

  it('keeps its beginning for who reads it', () => {
    const text = '# a\n\nbbb\n\nccc'
    const kept = growingTail(growMarkdown(text), 4)
    const later = growingTail(growMarkdown(`${text}ddd\n\neee`), 4, kept)
    assert.equal([textOfBlocks(later.blocks), later.first, later.isCut], ['bbb\ncccddd\neee', 1, true])
    const code = growingTail(growMarkdown('```ts\nconst a = 1'), 5)
    assert.is(textOfBlocks(growingTail(growMarkdown('```ts\nconst a = 12'), 5, code).blocks), 'a = 12')
    assert.equal(textTail('abcdef', 4), { first: 0, skipped: 2, isCut: true })
    assert.equal(textTail('abcdefgh', 4, { first: 0, skipped: 2 }), { first: 0, skipped: 2, isCut: true })
    // Another text has begun.
    assert.is(textTail('a', 4, { first: 0, skipped: 2 }).skipped, 0)
    assert.is(growingTail(growMarkdown('a'), 4, { first: 3, skipped: 0 }).first, 0)
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

import { relevanceOf, wordsIn } from '../src/relevance.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const best = (texts: readonly string[], query: string): number => {
  const scores = relevanceOf(texts, query)
  return scores.indexOf(Math.max(...scores))
}

describe('the words of a text', (it) => {
  it('are in lower case, compound names whole and in parts', () => {
    assert.equal([...wordsIn('See src/unitPrice.ts.')], ['see', 'src/unitprice.ts', 'src', 'unit', 'price', 'ts'])
  })
})

describe('relevance to a query', (it) => {
  it('is that of the words that a text shares with it, and 0 when it shares none', () => {
    const scores = relevanceOf(['the parser fails', 'a cake recipe', 'the parser'], 'why does parser.ts fail')
    assert.is(scores[1], 0)
    assert.ok(scores[0]! > 0 && scores[2]! > 0)
  })

  it('counts a rare word more than common ones', () => {
    const texts = ['read file of tool', 'read file of unitPrice', 'read file of tool', 'read file of tool']
    assert.is(best(texts, 'read file unitPrice'), 1)
    const scores = relevanceOf(['read alpha', 'read beta', 'read alpha'], 'alpha beta')
    assert.ok(scores[1]! > scores[0]!)
  })

  it('finds a part of a compound name', () => {
    assert.is(best(['tax rates', 'src/billing/unitPrice.ts'], 'the price'), 1)
  })

  it('does not grow with the length of a text, nor much with repeating a word', () => {
    const long = `price ${'other '.repeat(500)}`
    assert.is(best([long, 'price list'], 'price'), 1)
    const [once, often] = relevanceOf(['price a b c d e f g h i', 'price '.repeat(10), 'x'], 'price')
    assert.ok(often! < 3 * once!, `${often} ${once}`)
  })

  it('takes an empty query, empty texts and no texts', () => {
    assert.equal(relevanceOf(['a', ''], ''), [0, 0])
    assert.equal(relevanceOf(['', ''], 'a'), [0, 0])
    assert.equal(relevanceOf([], 'a'), [])
  })

  it('is quick with huge texts', () => {
    const scores = relevanceOf(['x'.repeat(5_000_000), 'price '.repeat(1_000_000), `x${'/'.repeat(35_000)}y`], 'price')
    assert.ok(scores.every(Number.isFinite))
  })
})

import {
  addHeld,
  holdsNothing,
  placeOfName,
  ranked,
  scoreOf,
  termsOf,
  weightsOf,
} from '../../src/conversation/tree/searchSteps.ts'
import { assert, describe } from '../support/suite.ts'

const heldBy = (query: string, ...texts: readonly string[]) => {
  const terms = termsOf(query)
  const held = holdsNothing()
  for (const text of texts) addHeld(held, text, terms)
  const textsOf = (places: ReadonlySet<number>): string[] => [...places].map((place) => terms[place]!.text).toSorted()
  return { terms: textsOf(held.terms), names: textsOf(held.names) }
}

describe('what a step is searched for', (it) => {
  it('is words and names, each once, names first; other signs are nothing', () => {
    assert.equal(
      termsOf('where is src/a.ts, and is where?').map(({ text, isName }) => [text, isName]),
      [
        ['src/a.ts', true],
        ['where', false],
        ['is', false],
        ['and', false],
      ],
    )
    assert.equal(termsOf('?! -- ...'), [])
  })

  it('is held in any case and within longer words; a name counts as one only as it is written, and whole', () => {
    assert.equal(heldBy('parse', 'The PARSER broke'), { terms: ['parse'], names: [] })
    assert.equal(heldBy('src/a.ts', 'see src/a.ts.'), { terms: ['src/a.ts'], names: ['src/a.ts'] })
    assert.equal(heldBy('src/a.ts', 'see SRC/A.TS'), { terms: ['src/a.ts'], names: [] })
    assert.equal(heldBy('src/a.ts', 'see src/a.tsx'), { terms: ['src/a.ts'], names: [] })
    assert.equal(heldBy('src/a.ts', 'nothing'), { terms: [], names: [] })
    assert.equal(heldBy('src/a.ts look', 'LOOK', 'xsrc/a.ts', 'at src/a.ts'), {
      terms: ['look', 'src/a.ts'],
      names: ['src/a.ts'],
    })
  })

  it('stands where it is no part of something longer', () => {
    for (const [text, place] of [
      ['a.ts', 0],
      ['(a.ts)', 1],
      ['xa.ts a.ts', 6],
      ['a.tsa.ts', -1],
      ['', -1],
    ] as const)
      assert.is(placeOfName(text, 'a.ts'), place)
  })

  it('tells the more the rarer it is, any name more than all words, and of equals the newest comes first', () => {
    const terms = termsOf('src/a.ts rare often')
    const found = (stepId: number, ...held: readonly string[]) => {
      const places = held.map((text) => terms.findIndex((term) => term.text === text))
      return {
        stepId,
        held: { terms: new Set(places), names: new Set(places.filter((place) => terms[place]!.isName)) },
      }
    }
    const all = [
      found(1, 'often'),
      found(2, 'rare', 'often'),
      found(3, 'often'),
      found(4, 'src/a.ts'),
      found(5, 'often'),
    ]
    const weights = weightsOf(terms, all, 10)
    const [name, rare, often] = weights
    assert.equal([name, rare, often], [Math.log(11), Math.log(11), Math.log(11 / 4)])
    assert.equal(weightsOf(termsOf('unheard'), all.slice(0, 0), 10), [0])
    assert.ok(scoreOf(all[3]!.held, weights) > scoreOf(all[1]!.held, weights))
    assert.equal(
      ranked(all, weights).map(({ stepId }) => stepId),
      [4, 2, 5, 3, 1],
    )
  })
})

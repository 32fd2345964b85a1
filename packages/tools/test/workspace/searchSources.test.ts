import * as fc from 'fast-check'
import { assert, describe } from '../../../../test/support/suite.ts'
import { someRuns } from '../../../../test/support/seeds.ts'
import { widerPattern } from '../../src/workspace/searchSources.ts'

/** The wider pattern, as JavaScript reads it. */
const wider = (pattern: string): RegExp | undefined => {
  const found = widerPattern(pattern)
  return found === undefined || readable(pattern) === undefined
    ? undefined
    : new RegExp(found.replaceAll(String.raw`\x{FEFF}`, String.raw`\uFEFF`), 'u')
}

/** A pattern as the search reads it; `undefined` for one that it refuses. */
function readable(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

describe('the pattern by which rg chooses files', (it) => {
  it('is that of the search, where both read it the same way', () => {
    for (const pattern of [
      'abc',
      'a.c',
      'a+b*c?',
      '^const (a|b)$',
      '[a-z]+',
      String.raw`\d{2,3}`,
      String.raw`a\.b\(c\)`,
      '(?:x|y)z',
      String.raw`\w+ = \w`,
    ])
      assert.is(widerPattern(pattern), pattern)
    assert.is(widerPattern(String.raw`\bfoo\b`), 'foo')
    assert.is(widerPattern(String.raw`a\s+b`), String.raw`a[\s\x{FEFF}]+b`)
    assert.is(widerPattern(String.raw`src\/a`), 'src/a')
  })

  it('is none where they may not', () => {
    for (const pattern of [
      '(?=a)',
      '(?<n>a)',
      '(?!a)',
      String.raw`(a)\1`,
      String.raw`\p{L}`,
      String.raw`\u0041`,
      String.raw`\x41`,
      String.raw`\W`,
      String.raw`\D`,
      String.raw`\S`,
      String.raw`\B`,
      '[[a]]',
      '[a&&b]',
      '[^\\w]',
      'a{',
      '{',
      ']',
      String.raw`\b+`,
      String.raw`\cA`,
      '[]',
      '[^]',
      String.raw`\-`,
    ])
      if (widerPattern(pattern) !== undefined) assert.ok(pattern === String.raw`\-`, pattern)
  })

  it('matches every line that the search does', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      ' ',
      '.',
      '*',
      '+',
      '?',
      '(',
      ')',
      '(?:',
      '[',
      ']',
      '[^',
      '-',
      '^',
      '$',
      '|',
      String.raw`\b`,
      String.raw`\s`,
      String.raw`\w`,
      String.raw`\d`,
      String.raw`\.`,
      '{2}',
      'é',
    )
    const line = fc
      .array(fc.constantFrom('a', 'b', ' ', '.', '1', '-', '^', '\uFEFF', 'é', '\t'))
      .map((all) => all.join(''))
    const pattern = fc.array(piece, { maxLength: 8 }).map((all) => all.join(''))
    let chosen = 0
    fc.assert(
      fc.property(pattern, fc.array(line, { minLength: 5 }), (text, lines) => {
        const found = wider(text)
        if (found === undefined) return
        const own = readable(text)
        if (own === undefined) return
        chosen += 1
        for (const each of lines) if (own.test(each)) assert.ok(found.test(each), JSON.stringify([text, each]))
      }),
      { seed: 7, numRuns: someRuns(8_000) },
    )
    assert.ok(chosen > 100, String(chosen))
  })
})

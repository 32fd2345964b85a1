import * as fc from 'fast-check'
import { marked, type Token } from 'marked'
import { plainMarkdown } from '../src/plainMarkdown.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** Parts of a text that a reader of Markdown would load or run. */
function liveIn(text: string): readonly string[] {
  const live: string[] = []
  void marked.walkTokens(marked.lexer(text), ({ type, raw }: Token) => {
    if (type === 'html' || type === 'image') live.push(raw)
  })
  return live
}

const pieces =
  '` `` ``` ~~~ ~~~~ \\ | js ! a > - 1. # * <b > <!-- </p> <? ![a](http://e/x) ![a][r] <img/src=x> http://e/`x <http://e/`x> &lt; `y`'
const words = fc.constantFrom(
  ...pieces.split(' '),
  '\n',
  '\n\n',
  '\r',
  '  ',
  '    ',
  '\t',
  '\u00A0',
  ' ',
  '- ',
  '> ',
  '\n[r]: http://e',
  '\n[^1]: ',
  '\n|-|-|\n',
)

describe('Markdown that is taken out', (it) => {
  it('loads nothing and has no HTML, whatever was said', () => {
    assert.ok(liveIn('a <b>b</b> ![c](d)').length > 1)
    fc.assert(
      fc.property(fc.array(words, { maxLength: 16 }), (parts) => {
        const made = plainMarkdown(parts.join(''))
        assert.equal(liveIn(`${made}\n\nend`), [], made)
      }),
      { numRuns: 4_000 },
    )
  })

  it('keeps what is written otherwise, and code as it was', () => {
    for (const text of [
      '# a\n\n- b **c** `<T>` and `x < y`\n\n```ts\nconst a: Array<string> = []\n![x](y)\n```\n\n1 < 2 > 0 [d](https://e)',
      'a `<T>` (`b<c>`) **`d<e>`**',
    ])
      assert.is(plainMarkdown(text), text)
    assert.is(plainMarkdown('<img src=x> ![a](b)'), '&lt;img src=x> &#33;[a](b)')
  })

  it('has the fences of lists at the beginning of their lines, and closes what is open', () => {
    assert.is(plainMarkdown('1. do\n   ```js\n   a<b>()\n   ```\n<i>'), '1. do\n```js\na<b>()\n```\n&lt;i>')
    assert.is(plainMarkdown('- ```\n  <a>\n  ```\n<i>'), '-\n```\n<a>\n```\n&lt;i>')
    assert.is(plainMarkdown('~~~\n<a>'), '~~~\n<a>\n~~~')
  })
})

import * as fc from 'fast-check'
import { growMarkdown, type GrowingMarkdown } from '../../src/text/growingMarkdown.ts'
import { mostMarkdown, parseMarkdown } from '../../src/text/markdown.ts'
import { textOfBlocks, textOfSpans, type MarkdownBlock } from '../../src/text/markdownTree.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const paragraph = (text: string): MarkdownBlock => ({ type: 'paragraph', spans: [{ type: 'text', text }] })
const text = (value: string): { type: 'text'; text: string } => ({ type: 'text', text: value })

const spansOf = (source: string): unknown => {
  const [block] = parseMarkdown(source)
  return block?.type === 'paragraph' ? block.spans : block
}

describe('Markdown', (it) => {
  it('has headings, rules, quotes and paragraphs', () => {
    assert.equal(parseMarkdown('## Two\ntext\n\n---\n> said\n> so\n\nSetext\n==='), [
      { type: 'heading', level: 2, spans: [text('Two')] },
      paragraph('text'),
      { type: 'rule' },
      { type: 'quote', blocks: [paragraph('said\nso')] },
      { type: 'heading', level: 1, spans: [text('Setext')] },
    ])
  })

  it('has lists, numbered from where they begin, nested, with tasks', () => {
    assert.equal(parseMarkdown('- a\n- [x] b\n- [ ] c\n\n7. x\n   1. y\n\n   z\n8. w'), [
      {
        type: 'list',
        start: null,
        mark: '-',
        items: [
          { blocks: [paragraph('a')] },
          { isDone: true, blocks: [paragraph('b')] },
          { isDone: false, blocks: [paragraph('c')] },
        ],
      },
      {
        type: 'list',
        start: 7,
        mark: null,
        items: [
          {
            blocks: [
              paragraph('x'),
              { type: 'list', start: 1, mark: null, items: [{ blocks: [paragraph('y')] }] },
              paragraph('z'),
            ],
          },
          { blocks: [paragraph('w')] },
        ],
      },
    ])
  })

  it('keeps the signs of lines of a diff that no fence holds', () => {
    const signs = (source: string): unknown => parseMarkdown(source).map((block) => block.type === 'list' && block.mark)
    assert.equal(signs('- let a = 1\n- let b = 1\n+ let a = 2'), ['-', '+'])
    assert.equal(signs('* one\n\n+ two\n1. three'), ['*', '+', null])
    assert.equal(signs('> - a'), [false])
  })

  it('has tables, whose rows are as long as their head', () => {
    assert.equal(parseMarkdown('| a | `b` |\n|:--|--:|\n| 1 |\n| 2 | 3 | 4 |'), [
      {
        type: 'table',
        align: ['left', 'right'],
        head: [[text('a')], [{ type: 'code', text: 'b' }]],
        rows: [
          [[text('1')], []],
          [[text('2')], [text('3')]],
        ],
      },
    ])
  })

  it('keeps code as it is, with its language, also when its fence is not closed yet', () => {
    const code = (language: string, value: string): MarkdownBlock => ({ type: 'code', language, text: value })
    assert.equal(parseMarkdown('```TS title=x\na\n\n*b* &amp;\n```\nafter'), [
      code('ts', 'a\n\n*b* &amp;'),
      paragraph('after'),
    ])
    assert.equal(parseMarkdown('~~~\n```\n~~~~'), [code('', '```')])
    assert.equal(parseMarkdown('```py\nprint()\n'), [code('py', 'print()')])
    assert.equal(parseMarkdown('```\n```'), [code('', '')])
    assert.equal(parseMarkdown('    indented\n\n    more'), [code('', 'indented\n\nmore')])
    const [list] = parseMarkdown('- a\n  ```js\n  x\n\n  y\n  ```\n- b')
    assert.equal(list?.type === 'list' && list.items.map(({ blocks }) => blocks.length), [2, 1])
    assert.equal(list?.type === 'list' && list.items[0]!.blocks[1], code('js', 'x\n\ny'))
  })

  it('has emphasis, code, links and images as words and addresses', () => {
    assert.equal(spansOf('**a *b*** ~~c~~ ``d`e`` \\* &amp;&#65;&nope; [f](http://g "h") ![i](j.png) https://k.l'), [
      { type: 'strong', spans: [text('a '), { type: 'emphasis', spans: [text('b')] }] },
      text(' '),
      { type: 'strike', spans: [text('c')] },
      text(' '),
      { type: 'code', text: 'd`e' },
      text(' * &A&nope; '),
      { type: 'link', url: 'http://g', spans: [text('f')] },
      text(' '),
      { type: 'image', alt: 'i', url: 'j.png' },
      text(' '),
      { type: 'link', url: 'https://k.l', spans: [text('https://k.l')] },
    ])
  })

  it('finds the address of a label wherever it stands', () => {
    assert.equal(spansOf('[a][ref]\n\n# later\n\n[Ref]: https://b.c "d"'), [
      { type: 'link', url: 'https://b.c', spans: [text('a')] },
    ])
  })

  it('shows HTML and its entities as the text they are', () => {
    assert.equal(parseMarkdown('<div onclick="x">\n**hi**\n</div>\n\na <b>c</b> &lt;img&gt; "q" \'r\''), [
      paragraph('<div onclick="x">\n**hi**\n</div>'),
      paragraph('a <b>c</b> <img> "q" \'r\''),
    ])
    assert.equal(parseMarkdown('&#0; &#xD800; &#x110000;'), [paragraph('\uFFFD \uFFFD \uFFFD')])
  })

  it('keeps line breaks inside a paragraph, and reads every kind of line end', () => {
    assert.equal(parseMarkdown('a\r\nb\rc'), [paragraph('a\nb\nc')])
    assert.equal(spansOf('a  \nb'), [text('a'), { type: 'break' }, text('b')])
    assert.equal(parseMarkdown(' \n\n'), [])
  })

  it('is text as it was written where it is too much to be parsed', { timeoutMs: 30_000 }, () => {
    const hostile = [
      '[',
      '*',
      '>',
      '_a',
      '*a ',
      '`',
      '<',
      '[a](',
      '![',
      '~a~~b',
      '\\',
      '| a ',
      '- ',
      '1. ',
      '&',
      '[]',
      '((',
      '#',
    ]
    for (const mark of hostile) {
      const source = mark.repeat(Math.ceil(100_000 / mark.length)).trim()
      assert.equal(parseMarkdown(source), [paragraph(source)], mark)
      assert.ok(parseMarkdown(`${mark.repeat(20)}\n`.repeat(3_000)).length > 0, mark)
    }
    const huge = '[*'.repeat(5 * 1024 * 1024)
    assert.ok(textOfBlocks(parseMarkdown(huge)).replaceAll('\n', '') === huge)
    const lines = 'word **b**\n\n'.repeat(mostMarkdown / 10)
    const last = parseMarkdown(lines).at(-1)!
    assert.ok(last.type === 'paragraph' && textOfSpans(last.spans) === lines.slice(mostMarkdown))
  })

  it('shows what is nested too deep as text', () => {
    const deep = parseMarkdown(`${'> '.repeat(200)}end`)
    assert.ok(textOfBlocks(deep).endsWith('> end'))
    assert.ok(textOfBlocks(parseMarkdown(`${'- '.repeat(200)}end`)).endsWith('end'))
    assert.match(textOfBlocks(parseMarkdown(`${'*_'.repeat(100)}a${'_*'.repeat(100)}`)), /a/)
  })

  it('never fails, and loses no word, whatever the text is', () => {
    const piece = fc.constantFrom(
      'a',
      'b c',
      '\n',
      '\n\n',
      '# ',
      '- ',
      '1. ',
      '> ',
      '```',
      '~~~',
      '|',
      '|-|\n',
      '*',
      '**',
      '_',
      '~~',
      '`',
      '[',
      '](',
      ')',
      '!',
      '<b>',
      '</b>',
      '&amp;',
      '\\',
      '    ',
      '\t',
      '- [ ] ',
      '===\n',
      '---\n',
      'https://x.y',
      '\r',
      '😀',
      '\uD800',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const source = pieces.join('')
        const shown = JSON.stringify(parseMarkdown(source))
        // The info of a fence is not shown but for its first word; tasks and rows may be cut by their syntax.
        if (/`|~|\||]:/.test(source)) return
        const words = source.match(/qq|zz|😀/gu) ?? []
        for (const word of ['qq', 'zz', '😀'])
          assert.ok(
            shown.split(word).length >= words.filter((one) => one === word).length + 1,
            JSON.stringify([source, shown]),
          )
      }),
      { numRuns: 2_000, seed: 19 },
    )
  })

  it('shows what a person would write it for', () => {
    const word = fc.constantFrom('alpha', 'beta', 'a b', 'x1', 'ünï', '日本')
    const leaf = fc.oneof(
      word.map((value) => ({ source: value, seen: value })),
      word.map((value) => ({ source: `**${value}**`, seen: value })),
      word.map((value) => ({ source: `\`${value}\``, seen: value })),
      word.map((value) => ({ source: `[${value}](https://a.b)`, seen: value })),
      word.map((value) => ({ source: `![${value}](a.png)`, seen: value })),
    )
    const line = fc.array(leaf, { minLength: 1, maxLength: 5 }).map((leaves) => ({
      source: leaves.map(({ source }) => source).join(' '),
      seen: leaves.map(({ seen }) => seen).join(' '),
    }))
    const blocks = fc.oneof(
      line,
      line.map(({ source, seen }) => ({ source: `### ${source}`, seen })),
      line.map(({ source, seen }) => ({ source: `> ${source}`, seen })),
      line.map(({ source, seen }) => ({ source: `\`\`\`\n${source}\n\`\`\``, seen: source || seen })),
      line.map(({ source, seen }) => ({ source: `<!-- -->\n\n- ${source}`, seen: `<!-- -->\n${seen}` })),
    )
    fc.assert(
      fc.property(fc.array(blocks, { maxLength: 8 }), (made) => {
        const source = made.map((one) => one.source).join('\n\n')
        assert.is(textOfBlocks(parseMarkdown(source)), made.map(({ seen }) => seen).join('\n'))
      }),
      { numRuns: 500, seed: 19 },
    )
  })
})

const grown = (source: string, step: number): { last: GrowingMarkdown; looked: number } => {
  let last: GrowingMarkdown | undefined
  let looked = 0
  for (let end = step; end < source.length + step; end += step) {
    last = growMarkdown(source.slice(0, end), last)
    looked += last.looked
  }
  return { last: last!, looked }
}

const sample = [
  '# Plan',
  'Some *words* of the reply,\nand more.',
  '- one\n- two\n\n  more\n\n- three',
  '1. a\n\n2. b',
  '```ts\nconst a = 1\n\nb()\n```',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '> quoted\n> twice',
  '<p>html</p>',
  'end **bold** [x](https://y.z)',
].join('\n\n')

describe('Markdown that grows', (it) => {
  it('is at its end what it is at once, however it came', () => {
    for (const step of [1, 2, 3, 7, 50])
      assert.equal(grown(sample, step).last.blocks, parseMarkdown(sample), `${step} characters at a time`)
    const piece = fc.constantFrom(
      'a',
      '\n',
      '\n\n',
      '# ',
      '- ',
      '1. ',
      '> ',
      '```',
      '\n```\n',
      '| a |\n|-|\n',
      '**',
      '`',
      '\n  ',
      '- [ ] ',
      '---\n',
      '<b>',
    )
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (pieces, step) => {
        const source = pieces.join('')
        assert.equal(grown(source, step).last.blocks, parseMarkdown(source))
      }),
      { numRuns: 1_500, seed: 19 },
    )
  })

  it('keeps the blocks that are settled as the same objects', () => {
    let last: GrowingMarkdown | undefined
    for (let end = 1; end <= sample.length; end++) {
      const next: GrowingMarkdown = growMarkdown(sample.slice(0, end), last)
      for (let index = 0; index < (last?.settled ?? 0); index++)
        assert.ok(next.blocks[index] === last!.blocks[index], `block ${index} at ${end}`)
      last = next
    }
    assert.ok(last!.settled >= 7)
  })

  it('looks at little more than what is new', () => {
    const source = `${sample}\n\n`.repeat(100)
    const { looked, last } = grown(source, 50)
    assert.ok(looked < source.length * 12, `${looked} of ${source.length}`)
    assert.is(last.blocks.length, parseMarkdown(source).length)
    const line = 'one line after the other without an end\n'.repeat(1_000)
    assert.ok(grown(line, 400).looked < (line.length / 400) * 10_000)
  })

  it('begins again when it is another text', () => {
    const first = growMarkdown('# a\n\nb\n\nc')
    assert.equal(growMarkdown('x\n\ny', first).blocks, [paragraph('x'), paragraph('y')])
  })

  it('shows what is beyond its limit as text', () => {
    const source = 'word\n\n'.repeat(mostMarkdown / 5)
    const { blocks } = growMarkdown(source, growMarkdown(source.slice(0, -600)))
    const last = blocks.at(-1)!
    assert.ok(last.type === 'paragraph' && textOfSpans(last.spans) === source.slice(mostMarkdown))
  })
})

import * as fc from 'fast-check'
import { textWidth } from '../../../charts/src/textWidth.ts'
import { coloursFor } from '../../src/terminal/colours.ts'
import { addToReply, emptyReply, restOfReply, type GrowingReply } from '../../src/terminal/reply/growingReply.ts'
import type { ReplyLook } from '../../src/terminal/reply/spanRuns.ts'
import { parseMarkdown } from '../../../charts/src/text/markdown.ts'
import { textOfBlocks } from '../../../charts/src/text/markdownTree.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const look: ReplyLook = { colours: coloursFor({ isTTY: true }, {}), hasLinks: true }

/** All that is written of a reply that comes in pieces, each at a width of its own. */
function written(pieces: readonly string[], columns: (index: number) => number = () => 60): string[] {
  let reply = emptyReply
  const lines: string[] = []
  for (const [index, piece] of pieces.entries()) {
    const step = addToReply(reply, piece, look, columns(index))
    reply = step.reply
    lines.push(...step.lines)
  }
  return [...lines, ...restOfReply(reply, look, columns(pieces.length - 1))]
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const own = /\u001B(?:\[[\d;]*m|\]8;;[\u0021-\u007E]*\u001B\\)/g
const bare = (lines: readonly string[]): string[] => lines.map((line) => line.replaceAll(own, ''))
const letters = (text: string): string => text.replaceAll(/\s/g, '')

const words = fc.constantFrom(
  'one',
  '**two**',
  '*three*',
  '`four`',
  '日本語',
  'e\u0301',
  '👩‍💻',
  '[five](https://x.test/a)',
  '~~six~~',
  '1.',
  '-',
  '#',
)
const line = fc.array(words, { minLength: 1, maxLength: 14 }).map((some) => some.join(' '))
const block = fc.oneof(
  line,
  line.map((text) => `## ${text}`),
  fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.map((text) => `- ${text}`).join('\n')),
  fc
    .array(line, { minLength: 1, maxLength: 4 })
    .map((lines) => lines.map((text, i) => `${i + 1}. ${text}\n   - more`).join('\n')),
  fc
    .array(line, { minLength: 1, maxLength: 3 })
    .map((lines) => `Text:\n${lines.map((text) => `* ${text}`).join('\n')}`),
  fc
    .array(line, { maxLength: 4 })
    .map((lines) => `\`\`\`ts\nconst a = '/* x'\n${lines.join('\n')}\n/* b\n\nc */\n\`\`\``),
  fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.map((text) => `> ${text}`).join('\n')),
  fc.tuple(line, line).map(([a, b]) => `| a | b |\n|--|:-:|\n| ${a} | ${b} |\n| x | y |`),
  fc.constant('---'),
)
const document = fc.array(block, { minLength: 1, maxLength: 6 }).map((blocks) => blocks.join('\n\n'))
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 })

/** A text in pieces; characters may be torn. */
function cutAt(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.map((part) => Math.floor(part * text.length)).toSorted((a, b) => a - b), text.length]
  return places.slice(1).map((end, index) => text.slice(places[index], end))
}

describe('a reply at a terminal', (it) => {
  it('has its Markdown as rows', () => {
    const source = [
      '# Title',
      'Some **bold** and `code`',
      '1. one\n2. two\n   - deep\n3. [x] three',
      '- [x] done\n- [ ] open',
      '> said\n> so',
      '```js\nlet a = 1 // b\n```',
      '| a | long |\n|--|--:|\n| 1 | 2 |',
      '---',
    ].join('\n\n')
    assert.equal(bare(written([source])), [
      'Title',
      '',
      'Some bold and code',
      '',
      '1. one',
      '2. two',
      '   - deep',
      '[x] three',
      '',
      '[x] done',
      '[ ] open',
      '',
      '│ said',
      '│ so',
      '',
      '```js',
      'let a = 1 // b',
      '```',
      '',
      'a │ long',
      '──┼─────',
      '1 │    2',
      '',
      '─'.repeat(40),
    ])
  })

  it('has the colours of its code, each line with its own', () => {
    const [, first, second] = written(['```js\nlet a = `b\nc`\n```'])
    assert.is(first, '\u001B[95mlet\u001B[39m a = \u001B[32m`b\u001B[39m')
    assert.is(second, '\u001B[32mc`\u001B[39m')
  })

  it('is the same however it was cut into pieces', () => {
    fc.assert(
      fc.property(document, cuts, (text, at) => {
        assert.equal(written(cutAt(text, at)), written([text]))
      }),
      { seed: 46, numRuns: 400 },
    )
  })

  it('loses no letter, whatever was written and however it is cut', () => {
    const piece = fc.constantFrom(
      'a',
      'b ',
      '\n',
      '\n\n',
      '- ',
      '1. ',
      '**',
      '`',
      '```',
      '|',
      '|--|',
      '<!--',
      '-->',
      '> ',
      '    ',
      '#',
      '---',
      '[',
      '](x)',
      '\\',
      '&amp;',
      '<b>',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), cuts, (some, at) => {
        const text = some.join('')
        const lines = written(cutAt(text, at))
        assert.equal(lines, restOfReply({ ...emptyReply, source: text }, look, 60))
        const seen = letters(bare(lines).join(''))
        let from = 0
        for (const letter of letters(textOfBlocks(parseMarkdown(text)))) {
          from = seen.indexOf(letter, from) + 1
          assert.ok(from > 0, JSON.stringify([text, seen]))
        }
      }),
      { seed: 47, numRuns: 600 },
    )
  })

  it('keeps the signs of a diff that no fence holds, piece by piece', () => {
    const diff = 'src/a.js\n- if (total > 1)\n+ if (total >= 1)\n- b\n\nDone.'
    const rows = ['src/a.js', '', '- if (total > 1)', '+ if (total >= 1)', '- b', '', 'Done.']
    assert.equal(bare(written([diff])), rows)
    assert.equal(bare(written(diff.split(/(?=.)/s))), rows)
    assert.equal(bare(written(['> - a\n> + b\n* c'])), ['│ - a', '│ + b', '', '• c'])
  })

  it('has no row that is wider than the terminal, but for code', () => {
    fc.assert(
      fc.property(document, cuts, fc.integer({ min: 20, max: 90 }), (text, at, columns) => {
        const rows = written(cutAt(text.replaceAll('```', ''), at), () => columns)
        for (const row of rows) assert.ok(textWidth(row) <= columns, row)
      }),
      { seed: 48, numRuns: 200 },
    )
  })

  it('is written once where the terminal gets another width in the middle', () => {
    const items = Array.from({ length: 12 }, (_, i) => `- item ${i} ${'word '.repeat(i + 4)}end${i}`)
    const pieces = cutAt(`${items.join('\n')}\n\nlast`, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    const rows = bare(written(pieces, (index) => 70 - 5 * (index % 7)))
    assert.equal(letters(rows.join(' ')), letters([...items.map((item) => `-${item.slice(2)}`), 'last'].join(' ')))
  })

  it('writes lines as soon as they are final', () => {
    const lines = (reply: GrowingReply, piece: string) => addToReply(reply, piece, look, 60)
    const code = lines(emptyReply, '```\none\ntw')
    assert.equal(bare(code.lines), ['```'])
    assert.equal(bare(restOfReply(code.reply, look, 60)), ['one', 'tw', '```'])
    const more = lines(code.reply, 'o\n')
    assert.equal(bare(more.lines), ['one'])
    const list = lines(emptyReply, 'So:\n- one\n- two\n- thr')
    assert.equal(bare(list.lines), ['So:', '', '- one'])
    assert.equal(bare(restOfReply(list.reply, look, 60)), ['- two', '- thr'])
  })

  it('draws the end of a text without an end, and writes all of it', () => {
    const text = 'long '.repeat(40_000)
    const { reply } = addToReply(emptyReply, text, look, 60)
    assert.ok(restOfReply(reply, look, 60, 6_000).length <= 101)
    assert.is(letters(restOfReply(reply, look, 60).join('')), letters(text))
  })

  it('parses no more than its end again', { timeoutMs: 10_000 }, () => {
    let reply = emptyReply
    let looked = 0
    let size = 0
    for (let i = 0; i < 400; i += 1) {
      const piece = `Paragraph ${i} with **some** words.\n\n`
      reply = addToReply(reply, piece, look, 60).reply
      looked += reply.whole?.looked ?? 0
      size += piece.length
    }
    assert.ok(looked < 3 * size, `${looked} of ${size}`)
  })
})

describe('what a model writes to a terminal', (it) => {
  const [bell, c1, st] = ['\u0007', '\u009B', '\u009C']
  const osc = `\u001B]52;c;aGk=${bell}`
  for (const [what, text] of [
    ['OSC 52', osc],
    ['OSC 52 in C1', `\u009D52;c;aGk=${st}`],
    ['CSI', 'a\u001B[2Jb\u001B[31mred'],
    ['CSI in C1', `a${c1}2Jb`],
    ['DCS', '\u001BP+q544e\u001B\\'],
    ['a reference to a character', '&#27;]52;c;aGk=&#7; &#x9b;2J &#155;1m'],
    ['code', `\`${osc}\` \`&#27;\`\n\n\`\`\`js${bell}\n'${osc}' ${c1}2J // \u001B[2J\n\`\`\``],
    ['a table', `| ${osc} | b |\n|--|--|\n| ${c1}2J | &#27;[2J |`],
    ['a link', `[a${osc}](https://x.test/${c1}2J\u001B\\\u001B]0;title${bell}) <https://x.test/&#27;]0;t&#7;>`],
    ['an address with a reference', '[a](https://x.test/&#27;\\&#27;]0;title&#7;)'],
    ['an image', `![${osc}](x${c1}2J)`],
    ['a reversal', 'a\u202Etxt.exe\u2066'],
    ['a carriage return', 'safe\rrm -rf /'],
    ['a backspace', 'safe\b\b\b\bevil'],
  ] as const)
    it(`has no control characters of its own: ${what}`, () => {
      for (const pieces of [[text], [...text], cutAt(text, [0.3, 0.31, 0.7])]) {
        const shown = bare(written(pieces)).join('')
        // oxlint-disable-next-line no-control-regex -- these are what is to go
        assert.not.match(shown, /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/)
      }
    })

  it('is no colour of the terminal either, where it has a code of one', () => {
    assert.equal(written(['a\u001B[31mb', '\u001B[', '41mc']), ['abc'])
  })

  it('leads where it says, or says where it leads', () => {
    const [shown] = bare(
      written(['[https://bank.test](https://evil.test/a) [here](https://evil.test/a) <https://a.test/>']),
    )
    assert.is(shown, 'https://bank.test (https://evil.test/a) here https://a.test/')
    assert.equal(bare(written(['[x](javascript:alert%281%29)'])), ['x (javascript:alert%281%29)'])
    const raw = written(['[here](https://evil.test/a)'])[0]!
    assert.is(raw, '\u001B]8;;https://evil.test/a\u001B\\\u001B[4mhere\u001B[24m\u001B]8;;\u001B\\')
  })

  it('keeps its marks where no style can stand for them, and still draws tables and wraps at words', () => {
    const plain = { colours: coloursFor({ isTTY: true }, { NO_COLOR: '1' }), hasLinks: false }
    const source =
      '## A `b`\n\nSome **bold** and *slanted* words, ~~gone~~.\n\n| file | lines |\n|---|--:|\n| **a.ts** | 12 |\n\n- one\n'
    const { reply, lines } = addToReply(emptyReply, source, plain, 30)
    assert.equal(
      [...lines, ...restOfReply(reply, plain, 30)],
      [
        '## A `b`',
        '',
        'Some **bold** and *slanted*',
        'words, ~~gone~~.',
        '',
        'file     │ lines',
        '─────────┼──────',
        '**a.ts** │    12',
        '',
        '- one',
      ],
    )
  })
})

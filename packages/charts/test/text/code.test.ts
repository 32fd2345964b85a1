import * as fc from 'fast-check'
import { codeTokens } from '../../src/text/codeTokens.ts'
import { languageOfPath } from '../../src/text/languageOfPath.ts'
import { besideEdit, editOf, hidesNothing } from '../../src/text/edits.ts'
import { lineDiff } from '../../src/text/lineDiff.ts'
import { linkTarget } from '../../src/text/linkTarget.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const kinds = (language: string, code: string): readonly string[] =>
  codeTokens(language, code).flatMap(({ kind, text }) => (kind === 'plain' ? [] : [`${kind} ${text}`]))

const languages = [
  'js',
  'json',
  'python',
  'shell',
  'go',
  'rust',
  'c',
  'ruby',
  'sql',
  'yaml',
  'toml',
  'css',
  'html',
  'diff',
]

describe('the colours of code', (it) => {
  it('are those of keywords, strings, comments and numbers', () => {
    assert.equal(kinds('ts', 'const a = "b\\"" // c\nreturn `d\n${e}` /* f\n*/ 0x1F'), [
      'keyword const',
      'string "b\\""',
      'comment // c',
      'keyword return',
      'string `d\n${e}`',
      'comment /* f\n*/',
      'number 0x1F',
    ])
    assert.equal(kinds('py', '@dec\ndef f(): # c\n  """doc\n"""\n  return None'), [
      'name @dec',
      'keyword def',
      'comment # c',
      'string """doc\n"""',
      'keyword return',
      'keyword None',
    ])
    assert.equal(kinds('json', '{"a": "b", "c": [1.5, true]}'), [
      'name "a"',
      'string "b"',
      'name "c"',
      'number 1.5',
      'keyword true',
    ])
    assert.equal(kinds('bash', "if [ $A ]; then echo 'x' # y"), [
      'keyword if',
      'name $A',
      'keyword then',
      'keyword echo',
      "string 'x'",
      'comment # y',
    ])
    assert.equal(kinds('diff', '--- a\n+++ b\n@@ 1 @@\n+c\n-d\n e'), [
      'comment --- a',
      'comment +++ b',
      'name @@ 1 @@',
      'added +c',
      'removed -d',
    ])
    assert.equal(kinds('html', '<a href="b">c</a><!-- d -->'), [
      'keyword <a',
      'name href',
      'string "b"',
      'keyword >',
      'keyword </a',
      'keyword >',
      'comment <!-- d -->',
    ])
    assert.equal(kinds('yaml', 'a: true # b\n- c: "d"'), [
      'name a',
      'keyword true',
      'comment # b',
      'name c',
      'string "d"',
    ])
  })

  it('leave code of languages nobody knows, and very long code, as it is', () => {
    for (const language of ['', 'klingon', 'constructor', '__proto__'])
      assert.equal(codeTokens(language, 'if x'), [{ kind: 'plain', text: 'if x' }])
    const long = 'if '.repeat(50_000)
    assert.equal(codeTokens('ts', long), [{ kind: 'plain', text: long }])
    assert.equal(codeTokens('ts', ''), [])
  })

  it('lose nothing of any text', () => {
    const piece = fc.constantFrom(
      '"',
      "'",
      '`',
      '\\',
      '/*',
      '*/',
      '//',
      '#',
      '\n',
      'if',
      '1',
      '<',
      '>',
      '<!--',
      '"""',
      '@',
      '$',
      ':',
      '=',
      '[',
      ' ',
      '😀',
    )
    fc.assert(
      fc.property(fc.constantFrom(...languages), fc.array(piece, { maxLength: 60 }), (language, pieces) => {
        const code = pieces.join('')
        assert.is(
          codeTokens(language, code)
            .map(({ text }) => text)
            .join(''),
          code,
        )
      }),
      { numRuns: 3_000, seed: 19 },
    )
  })

  it('come to an end for text that is made to be slow', () => {
    for (const language of languages)
      for (const mark of [
        '"',
        "'",
        '/*',
        '<!--',
        '"""',
        '#',
        '\\',
        'a',
        ' ',
        '[',
        '${',
        '1',
        'a.',
        'a-',
        '<a',
        '""" ',
        '@',
        '="',
      ])
        assert.ok(codeTokens(language, mark.repeat(Math.floor(49_000 / mark.length))).length > 0)
  })

  it('go by the end of the name of a file', () => {
    assert.equal(['src/a.test.TS', 'Makefile', 'a.b/c', 'C:\\x.py', '.env'].map(languageOfPath), [
      'ts',
      '',
      '',
      'py',
      'env',
    ])
  })
})

const unified = (before: string, after: string, context?: number): string =>
  lineDiff(before, after, context)
    .hunks.map(
      (hunk) =>
        `@${hunk.before},${hunk.after}\n` +
        hunk.lines.map(({ type, text }) => `${{ same: ' ', added: '+', removed: '-' }[type]}${text}`).join('\n'),
    )
    .join('\n')

describe('a difference of lines', (it) => {
  it('shows what was taken out and put in, with lines around it', () => {
    assert.is(unified('a\nb\nc\nd\ne\n', 'a\nb\nX\nd\ne\n', 1), '@2,2\n b\n-c\n+X\n d')
    const before = Array.from({ length: 30 }, (_, index) => `${index}`)
    const after = before.toSpliced(25, 0, 'new').toSpliced(3, 1)
    assert.is(
      unified(before.join('\n'), after.join('\n')),
      '@1,1\n 0\n 1\n 2\n-3\n 4\n 5\n 6\n@23,22\n 22\n 23\n 24\n+new\n 25\n 26\n 27',
    )
    assert.is(unified('a\nb', 'a\nb'), '')
    assert.is(unified('', 'a\nb\n'), '@1,1\n+a\n+b')
    assert.is(unified('a', ''), '@1,1\n-a')
    assert.is(unified('a\r\nb', 'a\nb'), '')
  })

  it('counts the changed lines', () => {
    const { added, removed, isCoarse } = lineDiff('a\nb\nc', 'a\nX\nY\nc')
    assert.equal([added, removed, isCoarse], [2, 1, false])
  })

  it('puts changes whose surroundings touch into one hunk', () => {
    const lines = ['a', '1', '2', '3', '4', '5', '6', 'b']
    const touching = lineDiff(lines.join('\n'), ['A', ...lines.slice(1, -1), 'B'].join('\n'))
    assert.is(touching.hunks.length, 1)
    const apart = lineDiff(['a', '0', ...lines.slice(1)].join('\n'), ['A', '0', ...lines.slice(1, -1), 'B'].join('\n'))
    assert.is(apart.hunks.length, 2)
  })

  it('turns the one text into the other, by the fewest changes', () => {
    const someLines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 14 })
    fc.assert(
      fc.property(someLines, someLines, (a, b) => {
        const { hunks, added, removed } = lineDiff(
          a.map((line) => `${line}\n`).join(''),
          b.map((line) => `${line}\n`).join(''),
          99,
        )
        const lines = hunks.flatMap((hunk) => hunk.lines)
        const side = (other: string): string[] => lines.flatMap(({ type, text }) => (type === other ? [] : [text]))
        assert.equal(side('added'), hunks.length === 0 ? [] : a)
        assert.equal(side('removed'), hunks.length === 0 ? [] : b)
        assert.is(added + removed, a.length + b.length - 2 * commonLength(a, b))
      }),
      { numRuns: 1_000, seed: 19 },
    )
  })

  it('counts everything as changed when too much is', () => {
    const lines = (mark: string): string => Array.from({ length: 50_000 }, (_, index) => `${mark}${index}\n`).join('')
    const { added, removed, hunks, isCoarse } = lineDiff(`same\n${lines('a')}end`, `same\n${lines('b')}end`)
    assert.equal([added, removed, isCoarse, hunks.length], [50_000, 50_000, true, 1])
    assert.equal([hunks[0]!.lines[0]!.text, hunks[0]!.lines.at(-1)!.text], ['same', 'end'])
  })
})

/** Length of the longest common subsequence, by the book. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0)
  for (const x of a) {
    const next: number[] = []
    b.forEach((y, j) => next.push(x === y ? (row[j - 1] ?? 0) + 1 : Math.max(row[j]!, next[j - 1] ?? 0)))
    row = next
  }
  return row.at(-1) ?? 0
}

describe('the edit of a call', (it) => {
  it('is that of our own tools', () => {
    const edit = editOf('edit_file', { path: 'a.ts', oldText: 'a\nb', newText: 'a\nc\nd', all: true })!
    assert.equal([edit.path, edit.type, edit.diff.added, edit.diff.removed], ['a.ts', 'edit', 2, 1])
    const write = editOf('write_file', { path: 'b.ts', content: 'x\ny\n' })!
    assert.equal([write.path, write.type, write.diff.added, write.diff.removed], ['b.ts', 'write', 2, 0])
    assert.is(editOf('write_file', { path: 'empty', content: '' })?.diff.added, 0)
  })

  it('is that of tools of others with inputs of that kind', () => {
    const changes = (name: string, input: unknown): readonly unknown[] => {
      const edit = editOf(name, input)
      return [edit?.path, edit?.type, edit?.diff.added, edit?.diff.removed]
    }
    assert.equal(changes('Edit', { file_path: 'a', old_string: 'x', new_string: 'y\nz' }), ['a', 'edit', 2, 1])
    assert.equal(
      changes('str_replace_based_edit_tool', { command: 'str_replace', path: 'a', old_str: 'x', new_str: '' }),
      ['a', 'edit', 0, 1],
    )
    assert.equal(
      changes('fs__edit_file', {
        path: 'a',
        edits: [
          { oldText: 'x', newText: 'y' },
          { oldText: 'p', newText: 'q' },
        ],
      }),
      ['a', 'edit', 2, 2],
    )
    assert.equal(changes('fs__write_file', { path: 'a', content: 'x' }), ['a', 'write', 1, 0])
    assert.equal(changes('Write', { file_path: 'a', content: 'x' }), ['a', 'write', 1, 0])
  })

  it('is none of any other call, whatever its input is', () => {
    for (const input of [
      undefined,
      null,
      'x',
      7,
      [],
      {},
      { path: 'a' },
      { path: 7, content: 'x' },
      { path: 'a', edits: [null] },
    ])
      assert.is(editOf('edit_file', input), undefined, JSON.stringify(input))
    assert.is(editOf('read_file', { path: 'a', content: 'x' }), undefined)
    assert.is(editOf('write_file', { path: 'a', content: 'x'.repeat(2_000_001) }), undefined)
    assert.is(
      editOf('edit_file', { path: 'a', oldText: 'x'.repeat(1_000_001), newText: 'y'.repeat(1_000_000) }),
      undefined,
    )
  })
})

describe('a link of somebody’s text', (it) => {
  it('leads to the web or to mail, and nowhere else', () => {
    assert.equal(['https://a.b/c?d#e', 'http://a.b', 'mailto:x@y.z'].map(linkTarget), [
      'https://a.b/c?d#e',
      'http://a.b/',
      'mailto:x@y.z',
    ])
    for (const url of [
      'javascript:alert(1)',
      ' java\nscript:x',
      'data:text/html,x',
      'file:///etc',
      '/a',
      '#b',
      'x.md',
      '',
      'vbscript:x',
      'blob:https://a.b/c',
    ])
      assert.is(linkTarget(url), undefined, url)
  })
})

describe('what an edit is given beside', (it) => {
  const pair = { oldText: 'a', newText: 'b' }
  for (const [name, input, beside] of [
    ['edit_file', { path: 'p', ...pair }, {}],
    ['edit_file', { path: 'p', file: 'other', ...pair, old: 'c' }, { file: 'other', old: 'c' }],
    ['edit_file', { path: 'p', edits: [pair, { ...pair, all: true }], dry: 1 }, { dry: 1, edits: [{}, { all: true }] }],
    ['edit_file', { path: 'p', edits: [pair] }, {}],
    ['write_file', { path: 'p', content: 'c', text: 't', mode: '777' }, { text: 't', mode: '777' }],
    ['read_file', { path: 'p', depth: 1 }, {}],
  ] as const)
    it(`is ${JSON.stringify(beside)} of ${name} ${JSON.stringify(input)}`, () =>
      assert.equal(besideEdit(name, input), beside))
})

describe('the lines of an edit', (it) => {
  const isShown = (input: object, name = 'edit_file'): boolean => {
    const edit = editOf(name, { path: 'p', ...input }, Infinity)
    return edit !== undefined && hidesNothing(name, { path: 'p', ...input }, edit)
  }
  const pair = { oldText: 'a\nb', newText: 'a\nc\n' }
  it('show all of one text for another, as fields or as the only one of a list, and of several', () => {
    assert.equal([isShown(pair), isShown({ edits: [pair] }), isShown({ edits: [pair, pair] })], [true, true, true])
    assert.is(isShown({ content: 'a\nb' }, 'write_file'), true)
  })
  it('do not show a change without one, nor what looks like another line break', () => {
    const same = { oldText: 'a', newText: 'a' }
    assert.equal([isShown({ edits: [same, pair] }), isShown({ edits: [same] }), isShown(same)], [false, false, false])
    const other = { oldText: 'a\r\nb', newText: 'c' }
    assert.equal([isShown(other), isShown({ edits: [pair, other] })], [false, false])
  })
  it('name the change whose text ends with a line break', () => {
    const endings = (edits: object[]) => editOf('edit_file', { path: 'p', edits })?.endings
    assert.equal(endings([pair]), ['what it puts there ends with a line break'])
    assert.equal(endings([{ oldText: 'x', newText: 'y' }, pair]), [
      'change 2: what it puts there ends with a line break',
    ])
  })
})

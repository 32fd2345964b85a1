import * as yaml from 'yaml'
import { readFrontMatter } from '../../src/skills/frontMatter.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const read = (text: string) => readFrontMatter(text, yaml)
const refuses = (text: string, message: RegExp): void => {
  assert.throws(() => read(text), message)
}

describe('readFrontMatter', (it) => {
  it('gives the fields and the line after them', () => {
    assert.equal(read('---\nname: pdf\ndescription: >\n  two\n  lines\n---\n\n# Body\n'), {
      fields: { name: 'pdf', description: 'two lines\n' },
      bodyLine: 7,
    })
  })

  it('takes a byte order mark, Windows line endings and blanks after the dashes', () => {
    assert.equal(read('\uFEFF--- \r\nname: pdf\r\n---\t\r\nbody'), { fields: { name: 'pdf' }, bodyLine: 4 })
  })

  it('keeps what looks like another type as text', () => {
    assert.equal(read('---\na: 1.0\nb: yes\nc: 2026-01-01\nd: null\ne:\n---\n').fields, {
      a: '1.0',
      b: 'yes',
      c: '2026-01-01',
      d: 'null',
      e: '',
    })
  })

  it('quotes a plain value with a colon, and says so', () => {
    const { fields, note, bodyLine } = read('---\nname: pdf\ndescription: pdf: reads\n  and "writes": files\n---\nbody')
    assert.equal(fields, { name: 'pdf', description: 'pdf: reads and "writes": files' })
    assert.match(note ?? '', /^description: read as if quoted/)
    assert.is(bodyLine, 6)
  })

  it('quotes nothing where YAML can be read', () => {
    assert.equal(read('---\ndescription: "a: b"\nurl: http://example.com\n---\n'), {
      fields: { description: 'a: b', url: 'http://example.com' },
      bodyLine: 5,
    })
  })

  it('names the line of a mistake', () => {
    refuses('---\nname: pdf\ndescription: "open\n---\n', /^line \d: /)
    refuses('---\nname: pdf\nname: again\n---\n', /line 3: Map keys must be unique/)
    refuses('---\na: b: c\nd: [\n---\n', /line \d: /)
  })

  it('refuses what has no front matter, and front matter that announces a language', () => {
    refuses('', /line 1: .* there is none/)
    refuses('# Title\n', /there is none/)
    refuses('---js\n{ name: process.exit(3) }\n---\n', /it is "---js"/)
    refuses('---\nname: pdf\n', /has no second line "---"/)
    refuses('---\n- a\n---\n', /has no fields/)
    refuses('---\n---\n', /has no fields/)
  })

  it('expands no aliases', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    const bomb = names.map((name, i) => {
      const below = i === 0 ? 'x' : `*${names[i - 1]}`
      return `${name}: &${name} [${below}, ${below}]`
    })
    refuses(`---\n${bomb.join('\n')}\n---\n`, /uses aliases, which are not taken/)
  })

  it('ends with an error for whatever nesting there is room for', () => {
    refuses(`---\na: ${'['.repeat(30_000)}\n---\n`, /./)
  })

  it('makes no prototype of a field, and nothing of a tag', () => {
    const { fields } = read('---\n__proto__:\n  polluted: yes\nname: !!js/function "function () {}"\n---\n')
    assert.is(Object.getPrototypeOf(fields), Object.prototype)
    assert.is(({} as { polluted?: string }).polluted, undefined)
    assert.is(fields['name'], 'function () {}')
  })
})

import { lightened, newShared } from '../../tools/site/lighten.ts'
import { readable, withDefaults } from '../../tools/site/prepare/readable.ts'
import { groupsFor, isNear } from '../../tools/site/theme/src/groupsFor.ts'
import { assert, describe } from '../support/suite.ts'

const path = `M${'5 12a1 1 0 0 0-1-1H3'.repeat(8)}`
const page = `<head><script>${'a()\n'.repeat(50)}</script></head><span class="astro-abcdefgh"><svg class="astro-12345678 x" width="16"><path d="${path}"/></svg></span><span style="--0:#82AAFF;--1:#3B61B0">const</span>`

describe('a built page', (it) => {
  it('names what all pages have, and keeps the order of scripts', () => {
    const shared = newShared(new Map([['astro-12345678', 'a-0']]))
    const made = lightened(page, '/docs/', shared)
    const [[code, name]] = [...shared.scripts] as [[string, string]]
    assert.is(code, 'a()\n'.repeat(50))
    assert.equal(
      made,
      `<head><script src="/docs/assets/s/${name}"></script><link rel="stylesheet" href="/docs/assets/s/code.css"></head><span><svg class="a-0 x" width="16"><use href="/docs/assets/s/icons.svg#i0"/></svg></span><span class="k0">const</span>`,
    )
    assert.equal([...shared.drawings.keys()], [`<path d="${path}"/>`])
    assert.equal([...shared.colours], [['--0:#82AAFF;--1:#3B61B0', 'k0']])
    assert.is(lightened(page, '/docs/', shared), made, 'the next page shares all of it')
    assert.is(shared.scripts.size, 1)
  })

  it('keeps scripts that are short or data, and modules as modules', () => {
    const long = 'b()\n'.repeat(50)
    const made = lightened(
      `<script>c()</script><script type="application/json">${long}</script><script type="module">${long}</script>`,
      '/',
      newShared(),
    )
    assert.match(
      made,
      /^<script>c\(\)<\/script><script type="application\/json">b\(\)[\s\S]*<\/script><script type="module" src="\/assets\/s\/\w+\.js"><\/script>$/,
    )
  })
})

describe('a page of the reference', (it) => {
  it('has the beginning of a type that is too long to be read', () => {
    const lines = Array.from({ length: 100 }, (_, at) => `  field${at}: string`)
    const made = readable(`# T\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n\nMore.\n`)
    assert.match(made, /field23: string\n\/\/ … and 76 more lines\n```\n\nMore\.\n$/)
    const short = `\`\`\`ts\n${lines.slice(0, 40).join('\n')}\n\`\`\`\n`
    assert.is(readable(short), short)
  })

  it('says of each option its type, its default and what it is for', () => {
    const table = readable(
      String.raw`
| Property | Modifier | Type | Description | Inherited from |
| ------ | ------ | ------ | ------ | ------ |
| ${'`a?`'} | ${'`readonly`'} | ${'`x`'} \| ${'`y`'} | Keeps it. Default ${'`x`'}. See b. | ${'`Base.a`'} |
| ${'`b?`'} | ${'`readonly`'} | ${'`number`'} | Milliseconds it has; default 600,000. | - |
| ${'`c`'} | ${'`readonly`'} | ${'`string`'} | - | - |
`,
    )
    assert.equal(table.trim().split('\n'), [
      '| Property | Type | Default | Description |',
      '| ------ | ------ | ------ | ------ |',
      String.raw`| ${'`a?`'} | ${'`x`'} \| ${'`y`'} | ${'`x`'} | Keeps it. See b. |`,
      '| `b?` | `number` | 600,000 | Milliseconds it has. |',
      '| `c` | `string` | - | - |',
    ])
    const others = '| Type Parameter | Default type |\n| ------ | ------ |\n| `T` | `unknown` |'
    assert.is(withDefaults(others), others)
  })

  it('shows its own module in the menu, and the way to the others', () => {
    assert.ok(groupsFor('api/client/interfaces/client')?.includes('API by module'))
    const shown = (href: string): boolean => isNear('api/client/interfaces/client', href)
    assert.equal(['/x/api/', '/x/api/client/', '/x/api/escapement/', '/x/quick-start/'].map(shown), [
      true,
      true,
      false,
      true,
    ])
    assert.ok(isNear('guide/tools', '/api/escapement/'))
  })
})

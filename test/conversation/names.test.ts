import { namesIn, namesOf } from '../../src/conversation/names/names.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const names: readonly string[] = [
  'src/conversation/names/names.ts',
  './src/main.ts → src/main.ts',
  '/etc/hosts.allow → etc/hosts.allow',
  'camelCaseName',
  'PascalCase',
  'snake_case_name',
  '_private1',
  'package.json',
  'process.env.HOME',
  'version2',
  'utf8mb4_bin',
  'kebab-case1',
  'deadbeef01234567',
  'src/folder/ → src/folder',
  'module.name... → module.name',
  'some/path-',
]

const words: readonly string[] = [
  'word',
  'conversation',
  'CONVERSATION',
  'Conversation',
  'well-known-words',
  'a.b',
  'a_b_c_d',
  '12345678',
  '1.234.567.890',
  'ab1',
  '........',
  '--------',
  '________'.slice(0, 7),
  'über_straße'.slice(0, 5),
  '名前が長い識別子',
  `src/${'x'.repeat(200)}`,
]

describe('a name', (it) => {
  for (const entry of names) {
    const [text = '', name = text] = entry.split(' → ')
    it(`is ${text}`, () => {
      const found = name.replace(/[-./]+$/, '')
      assert.equal([...namesIn(`in (${text}), at the end`)], [found])
    })
  }

  for (const text of words)
    it(`is not ${text.slice(0, 40)}`, () => {
      assert.equal([...namesIn(`in (${text}), at the end`)], [])
    })

  it('is found once, in the order in which the text has them', () => {
    assert.equal([...namesIn('second_name, first_name. second_name')], ['second_name', 'first_name'])
  })
})

describe('the names of a step', (it) => {
  const nodesOf = (wanted: object): ReadonlyMap<string, number>[] => {
    const log = new BrakeLog()
    log.user('the task')
    log.step([wanted])
    return log.conversation.trunk().slice(1).map(namesOf)
  }

  it('are those of the call, of its arguments however deep, and of the result', () => {
    const input = { path: 'src/main.ts', list: [{ name: 'deep_name_1' }, 'listed_name'], count: 12_345_678 }
    const [reply, result] = nodesOf({ name: 'edit_file_now', input, output: 'result_name' })
    assert.equal([...reply!.keys()].toSorted(), ['deep_name_1', 'edit_file_now', 'listed_name', 'src/main.ts'])
    assert.equal([...result!.keys()], ['result_name'])
  })

  it('are no escapes of JSON', () => {
    const [reply] = nodesOf({ input: { text: 'first line\nsecond_line\tthird_line' } })
    assert.equal([...reply!.keys()], ['second_line', 'third_line'])
  })

  it('are worth more when the agent wrote them, when declared, and as paths; hashes and long ones less', () => {
    const long = `long_${'y'.repeat(60)}`
    const [reply, result] = nodesOf({
      input: { text: 'written_name' },
      output: `plain_name function declaredName() src/path.ts 'a1b2c3d4e5' ${long}`,
    })
    assert.equal([...reply!], [['written_name', 1]])
    assert.equal(Object.fromEntries(result!), {
      plain_name: 0,
      declaredName: 2,
      'src/path.ts': 2,
      a1b2c3d4e5: -3,
      [long]: -3,
    })
  })

  it('are none for what was recalled: its home is elsewhere', () => {
    const [reply, result] = nodesOf({ name: 'recall', input: { query: 'wanted_name' }, output: 'recalled_name' })
    assert.equal([...reply!.keys()], ['wanted_name'])
    assert.is(result!.size, 0)
  })

  it('are read from what is nested up to a depth, and from nothing below', () => {
    const nest = (depth: number): unknown =>
      Array.from({ length: depth }).reduce<unknown>((inner) => ({ inner }), 'nested_name')
    assert.equal([...nodesOf({ input: nest(40) })[0]!.keys()], ['nested_name'])
    assert.is(nodesOf({ input: nest(400) })[0]!.size, 0)
  })
})

describe('a megabyte that was made to take long', (it) => {
  // Each has the two seconds of any test; at a cost of its square it would take hours.
  for (const [what, part] of Object.entries({
    'letters without an end': 'a',
    'almost names': 'abcdefg ',
    'names without an end': 'aB',
    'slashes and dots': './',
    'a path of dots': '/.',
    'dashes after a letter': '-',
    'declarations of nothing': 'class function const ',
    'blanks after a declaration': ' ',
    underscores: '_',
    'one name again and again': 'name_1_x ',
    'names as long as they may be': `${'/.'.repeat(99)}a `,
  })) {
    it(`costs what its length costs: ${what}`, () => {
      const log = new BrakeLog()
      log.user(`class a${part.repeat(1_000_000 / part.length)}`)
      assert.ok(namesOf(log.conversation.node(1)!).size <= 2)
    })
  }
})

import { readFile } from 'node:fs/promises'
import { commands } from '../../packages/cli/src/commandList.ts'
import { commandHelp } from '../../packages/cli/src/helpText.ts'
import { options } from '../../packages/cli/src/options.ts'
import { plainOptions } from '../../src/actors/define/plainOptions.ts'
import { turnOptionSchemas } from '../../src/actors/turn/turnOptions.ts'
import { partSchemas } from '../../src/actors/parts/parts.ts'
import { assert, describe } from '../support/suite.ts'

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
const pages = ['agents', 'tools', 'commandLine', 'options'] as const
const guide = (await Promise.all(pages.map((page) => read(`docs/guide/${page}.md`)))).join('\n')

/** The rows of the first table after a heading whose own first column has this title, as cells. */
function tableAfter(heading: string, title: string): readonly (readonly string[])[] {
  const part = guide.slice(guide.indexOf(`\n${heading}\n`))
  const lines = part.slice(part.indexOf(`\n| ${title} |`) + 1).split('\n')
  const rows = lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('|')),
    )
    .slice(2)
  // A bar within a cell is escaped.
  return rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|')))
}

const codesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

/** The fields of an interface, as its source has them. */
async function fieldsOf(path: string, name: string): Promise<string[]> {
  const source = await read(path)
  const from = source.indexOf(`export interface ${name}<`)
  const body = source.slice(from, source.indexOf('\n}\n', from)).replace(/^[^{]*\{/s, '\n')
  const fields = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field]) => field!)
  assert.ok(fields.length > 2, name)
  return fields
}

describe('the guide', (it) => {
  it('has every option of defineAgent in its table, and no other', async () => {
    const told = tableAfter('## An agent', 'option').flatMap(([, names]) => codesIn(names))
    const own = await fieldsOf('src/actors/define/defineAgent.ts', 'AgentOptions')
    const turns = Object.keys(turnOptionSchemas)
    const others = [...Object.keys(plainOptions), ...turns, ...Object.keys(partSchemas)]
    assert.equal(told.toSorted(), [...own, ...others].toSorted())
  })

  it('says of every option with a plain default what it is', () => {
    const told = tableAfter('## An agent', 'option').flatMap(([, names, usual = '']) =>
      codesIn(names).map((name, index) => [name, usual.split(', ')[index]] as const),
    )
    const shown = (value: unknown): string =>
      typeof value === 'number' ? `${value}` : typeof value === 'string' ? `\`'${value}'\`` : `\`${String(value)}\``
    const compared = Object.entries(plainOptions).flatMap(([name, { usual }]) =>
      usual === '' || typeof usual === 'object' ? [] : [[name, shown(usual)] as const],
    )
    assert.ok(compared.length > 8)
    for (const [name, usual] of compared) assert.is(told.find(([one]) => one === name)?.[1], usual, name)
  })

  it('has every option of defineTool in its table, and no other', async () => {
    const told = tableAfter('## Define a tool', 'option').flatMap(([, names]) => codesIn(names))
    assert.equal(told.toSorted(), (await fieldsOf('src/actors/tools/defineTool.ts', 'ToolOptions')).toSorted())
  })

  it('has every command of the command line with all its options, and no other', () => {
    const told = tableAfter('## Commands', 'command').map(([, usage, , names]) => [codesIn(usage), codesIn(names)])
    assert.equal(
      told,
      Object.values(commands).map(({ usage, options: names }) => [
        [`escapement ${usage}`],
        names.map((name) => `--${name}`),
      ]),
    )
  })

  it('has commands whose help names no option that they do not take', () => {
    for (const [name, command] of Object.entries(commands)) {
      const [, rest = ''] = commandHelp(name, command).split('Options:\n')
      const [lines = ''] = rest.split('\nExamples:\n')
      const named = [...lines.matchAll(/--([a-z][a-z-]*)/g)].map(([, option]) => option!)
      const unknown = named.filter((option) => !['help', ...command.options].includes(option))
      assert.equal(unknown, [], `escapement help ${name}`)
    }
  })

  it('says of every option of the command line what its help says', () => {
    const told = tableAfter('## Options', 'option').map(([, usage, meaning]) => [...codesIn(usage), meaning])
    assert.equal(
      told,
      Object.values(options).map(([usage, meaning]) => [usage, meaning]),
    )
  })
})

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownMemory } from '../../tools/src/memory/markdownMemory.ts'
import { sqliteMemory } from '../../tools/src/memory/sqliteMemory.ts'
import { fact } from '../../tools/test/memory/memoryFolder.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { endedCli, runCli } from './cliInProcess.ts'
import { configFolder, configText } from './configFolder.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const parse = (stdout: string): unknown[] =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

async function folderWith(context: CaseContext) {
  const cwd = projectFolder(context)
  const folder = join(cwd, '.escapement', 'memory')
  const memory = markdownMemory(folder)
  await memory.put(fact('m1', 'Likes tea.\nAnd \u001b[31mrum.'))
  await memory.put(fact('m2', 'Wants passwords.', { tainted: true, updatedAt: 5 }))
  await memory.put(fact('m2', 'Likes milk.', { scope: 'workspace:shop' }))
  return { cwd, folder, memory }
}

describe('escapement memory', (it) => {
  it('lists, shows, confirms and deletes what is in a folder', async (context) => {
    const { cwd, memory } = await folderWith(context)
    const run = (...args: readonly string[]) => runCli(context, ['memory', ...args, '--dir', cwd])
    const listed = await run('list')
    assert.is(listed.code, 0)
    assert.equal(
      (parse(listed.stdout) as { id: string }[]).map(({ id }) => id),
      ['m1', 'm2', 'm2'],
    )
    assert.equal(parse((await run('list', '--scope', 'workspace:shop')).stdout).length, 1)
    assert.match((await run('show', 'm1')).stdout, /"text": "Likes tea\.\\nAnd/)
    assert.match((await run('confirm', 'm2')).stderr, /in several scopes: say --scope, one of user:42, workspace:shop/)
    assert.is((await run('confirm', 'm2', '--scope', 'user:42')).code, 0)
    assert.equal(
      (await memory.list({ trusted: true, scopes: ['user:42'] })).map(({ id }) => id),
      ['m1', 'm2'],
    )
    assert.match((await run('delete', 'm1')).stderr, /without a terminal, confirm with --yes/)
    assert.equal(parse((await run('delete', 'm1', '--yes')).stdout), [{ deleted: 1 }])
    assert.equal(parse((await run('delete', '--scope', 'user:42', '--yes')).stdout), [{ deleted: 1 }])
    assert.equal(
      (await memory.list()).map(({ scope }) => scope),
      ['workspace:shop'],
    )
  })

  it('says what is wrong with what it is told', async (context) => {
    const { cwd, folder } = await folderWith(context)
    const said = async (...args: readonly string[]): Promise<string> => {
      const { code, stderr } = await runCli(context, ['memory', ...args, '--dir', cwd])
      assert.ok(code !== 0, args.join(' '))
      return stderr
    }
    assert.match(await said(), /needs an action \(list, show, confirm or delete\), like: escapement memory list/)
    assert.match(await said('lst'), /cannot "lst"\. Did you mean "list"\?/)
    assert.match(await said('forget'), /There are: list, show, confirm, delete/)
    assert.match(await said('show'), /Give its id/)
    assert.match(await said('show', 'm11'), /There is no record "m11" in .*memory\. Did you mean "m1"\?/)
    assert.match(await said('list', 'm1'), /takes no id/)
    assert.match(await said('list', '--scope', 'anna'), /"anna" is no scope/)
    assert.match(await said('delete', '--yes'), /needs an id, or a --scope/)
    assert.match(await said('list', '--file', join(folder, 'none.db')), /There is no memory at .*none\.db/)
    const elsewhere = projectFolder(context)
    const { code, stderr } = await runCli(context, ['memory', 'list', '--dir', elsewhere])
    assert.ok(code !== 0)
    assert.match(stderr, /There is no memory at .*--file says where it is/)
    assert.equal(readdirSync(elsewhere).includes('.escapement'), false, 'nothing is made')
  })

  it('says that nothing is remembered yet where the configuration has a memory, and makes nothing', async (context) => {
    for (const memory of ['./mem', './mem.db']) {
      const dir = configFolder(context, {
        'escapement.config.ts': configText(`export default defineConfig({ memory: '${memory}' })`),
      })
      const { code, stdout } = await endedCli(context, ['memory', 'list', '--dir', dir], { cwd: dir, isTerminal: true })
      assert.is(code, 0)
      assert.match(plain(stdout), /Nothing is remembered yet: there is no .*mem/)
      const json = await endedCli(context, ['memory', 'list', '--dir', dir, '--json'], { cwd: dir })
      assert.equal([json.code, json.stdout], [0, ''])
      assert.is((await endedCli(context, ['memory', 'show', 'm1', '--dir', dir], { cwd: dir })).code, 2)
      assert.equal(readdirSync(dir).toSorted(), ['escapement.config.ts', 'package.json'])
    }
  })

  it('reads SQLite files, and refuses others', async (context) => {
    const cwd = projectFolder(context)
    const file = join(cwd, 'memory.db')
    const memory = sqliteMemory(file)
    await memory.put(fact('m1', 'Likes tea.'))
    memory.close()
    assert.equal(parse((await runCli(context, ['memory', 'list', '--file', file])).stdout).length, 1)
    writeFileSync(join(cwd, 'notes.txt'), 'These are some notes of mine, and no database at all.')
    const { code, stderr } = await runCli(context, ['memory', 'list', '--file', join(cwd, 'notes.txt')])
    assert.ok(code !== 0)
    assert.match(stderr, /notes\.txt cannot be used/)
  })

  it('is where the configuration says, for the coding agent too', { timeoutMs: 10_000 }, async (context) => {
    const config = configText(`const model = policyModel(({ messages }) => {
      const said = JSON.stringify(messages)
      if (said.includes('From memory')) return 'I know: ' + /Uses tabs/.exec(said)
      if (said.includes('Remembered for')) return 'Noted.'
      return { toolCalls: [{ name: 'remember', input: { text: 'Uses tabs.' } }] }
    })
    export default defineConfig({ model, memory: 'notes/of.db' })`)
    const cwd = configFolder(context, { 'escapement.config.ts': config })
    const run = async (text: string): Promise<string> => {
      const { code, stdout, stderr } = await endedCli(context, ['run', text, '--dir', cwd], { cwd })
      assert.is(code, 0, stderr)
      return stdout
    }
    assert.match(await run('We use tabs.'), /Noted\./)
    assert.match(await run('How do we indent?'), /I know: Uses tabs/)
    const { stdout } = await endedCli(context, ['memory', 'list', '--dir', cwd], { cwd })
    assert.equal(
      (parse(stdout) as { scope: string }[]).map(({ scope }) => scope),
      [`workspace:${cwd}`],
    )
  })

  it('tells of sections that are no records, with their lines', async (context) => {
    const cwd = projectFolder(context)
    const folder = join(cwd, '.escapement', 'memory')
    await markdownMemory(folder).put(fact('m1', 'Likes tea.'))
    mkdirSync(folder, { recursive: true })
    const [name = ''] = readdirSync(folder)
    writeFileSync(join(folder, name), '# Memory of user:42\n\n## m1\n\nNo second line.\n')
    const { code, stderr } = await runCli(context, ['memory', 'list', '--dir', cwd])
    assert.is(code, 0)
    assert.match(stderr, /:3: its second line is gone/)
  })

  atTerminal(it, 'shows a record in two lines, and asks before it deletes', async (context) => {
    const { cwd } = await folderWith(context)
    const listed = plain((await startAtTerminal(context, ['memory', 'list'], { cwd }).ended).stdout)
    assert.match(
      listed,
      /m2 {2}user:42 · fact · 1970-01-01 · unconfirmed, may come from the output of a tool\r?\n {2}Wants passwords\./,
    )
    assert.match(listed, / {2}Likes tea\. And/)
  })
})

import { join } from 'node:path'
import { sqliteStore } from '../../sqlite/src/sqliteStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { projectFolder } from './cliChild.ts'
import { recordSession } from './cliSessions.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const timeoutMs = 30_000
const linesOf = (stdout: string): { readonly [key: string]: unknown }[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly [key: string]: unknown })

describe('escapement sessions', (it) => {
  it('copies sessions to an SQLite file and back, and reads them there', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', prompts: ['Where is the owl?'], replies: ['In the tree.'] })
    await recordSession(cwd, { id: 'two', prompts: ['Hello'], replies: ['Good day.'] })
    const file = `sqlite:${join(cwd, 'kept.db')}`
    const exported = await runCli(context, ['sessions', 'export', file, '--dir', cwd])
    assert.equal([exported.code, exported.stderr], [0, ''])
    assert.match(exported.stdout, /^\{"copied":\["(one","two|two","one)"\]/)
    const listed = await runCli(context, ['sessions', '--logs', file])
    assert.equal(
      linesOf(listed.stdout)
        .map(({ id }) => String(id))
        .toSorted(),
      ['one', 'two'],
    )
    const shown = await runCli(context, ['show', 'one', '--logs', file])
    assert.is((JSON.parse(shown.stdout) as { id: string }).id, 'one')
    assert.match((await runCli(context, ['show', 'on', '--logs', file])).stderr, /no session "on" in .*kept\.db.*"one"/)
    const other = projectFolder(context)
    const imported = await runCli(context, ['sessions', 'import', file, '--dir', other, '--only', 'two'])
    assert.equal(linesOf(imported.stdout)[0]?.['copied'], ['two'])
    const anew = join(other, 'not/there/yet')
    const made = await runCli(context, ['sessions', 'import', file, '--logs', anew, '--only', 'two'])
    assert.equal(linesOf(made.stdout)[0]?.['copied'], ['two'])
    assert.is(linesOf((await runCli(context, ['sessions', '--logs', anew])).stdout)[0]?.['id'], 'two')
    const again = await runCli(context, ['sessions', 'import', file, '--dir', other, '--only', 'two'])
    assert.equal([linesOf(again.stdout)[0]?.['copied'], linesOf(again.stdout)[0]?.['same']], [[], ['two']])
    assert.equal(
      linesOf((await runCli(context, ['sessions', '--dir', other])).stdout).map(({ id }) => id),
      ['two'],
    )
  })

  it('moves sessions, but for one that is open, and says which', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    for (const id of ['one', 'two']) await recordSession(cwd, { id, prompts: ['Hello'], replies: ['Good day.'] })
    const file = join(cwd, 'kept.db')
    await runCli(context, ['sessions', 'move', `sqlite:${file}`, '--dir', cwd])
    assert.is((await runCli(context, ['sessions', '--dir', cwd])).stdout, '')
    const holder = sqliteStore(file)
    context.cleanup(() => holder.close())
    await holder.open('one')
    const back = await runCli(context, ['sessions', 'move', cwd, '--logs', `sqlite:${file}`])
    assert.is(back.code, 1)
    const [report] = linesOf(back.stdout)
    assert.equal(report?.['moved'], ['two'])
    assert.match(JSON.stringify(report?.['refused']), /"agentId":"one","code":"STORE_LOCKED"/)
    await holder.close()
  })

  atTerminal(it, 'finds where something was said, and says how far a copy is', async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', prompts: ['Where is the owl?'], replies: ['In the tree.'] })
    await recordSession(cwd, { id: 'two', prompts: ['Hello'], replies: ['Good day.'] })
    const found = await startAtTerminal(context, ['sessions', 'search', 'OWL'], { cwd }).ended
    assert.match(plain(found.stdout), /^one {2}record \d+ · tester · \d+ s\n {2}Where is the owl\?\n$/)
    const none = await startAtTerminal(context, ['sessions', 'search', '"AND" NOT('], { cwd }).ended
    assert.match(plain(none.stdout), /Nothing in .* says/)
    const copied = await startAtTerminal(context, ['sessions', 'export', 'sqlite:kept.db'], { cwd }).ended
    assert.match(plain(copied.stdout), /2 logs copied to .*kept\.db\.\n/)
    assert.match(copied.stdout, /2 of 2: /)
    const again = await startAtTerminal(context, ['sessions', 'search', 'tree', '--logs', 'sqlite:kept.db'], { cwd })
      .ended
    assert.match(plain(again.stdout), /^one {2}record/)
  })

  it('says what it cannot do', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const said = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await runCli(context, ['sessions', ...args, '--dir', cwd])
      assert.not(code === 0)
      return stderr
    }
    assert.match(await said('serch', 'x'), /cannot "serch". Did you mean "search"\?/)
    assert.match(await said('search'), /Say what to look for/)
    assert.match(await said('export'), /Say where to: a folder, sqlite:<file> or postgres/)
    assert.match(await said('import', 'sqlite:/nowhere/at/all.db'), /There is no store at "\/nowhere\/at\/all\.db"/)
    assert.match(await said('import', 'mysql://x'), /There is no kind of store "mysql"/)
    assert.match(await said('move', join(cwd, '.escapement')), /where the sessions are already/)
    assert.match(await said('move', 'sqlite:'), /path of a file/)
    assert.match(await said('export', 'sqlite:x.db', '--metadata', 'user'), /give pairs/)
    assert.match(await said('export', 'sqlite:x.db', '--only', 'nobody'), /There is no session "nobody"/)
    const secret = await said('import', 'postgres://me:hunter2@127.0.0.1:1/db')
    assert.not(secret.includes('hunter2'))
  })
})

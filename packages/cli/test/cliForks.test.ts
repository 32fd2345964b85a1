import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliAgentName, instructionsFor } from '../src/config/ownSession.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { projectFolder } from './cliChild.ts'
import { logFile, recordsIn, recordSession } from './cliSessions.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const timeoutMs = 30_000

/** A folder with the session "one": a question and an answer. */
async function folderWithOne(context: CaseContext): Promise<string> {
  const cwd = projectFolder(context)
  await recordSession(cwd, { id: 'one', prompts: ['Hello'], replies: ['Good day.'] })
  return cwd
}

describe('escapement fork', (it) => {
  it('makes a session that shares the past up to a node', { timeoutMs }, async (context) => {
    const cwd = await folderWithOne(context)
    const { code, stdout } = await runCli(context, ['fork', 'one', '--at', 'n2', '--id', 'two'], { cwd })
    assert.equal([code, stdout], [0, '{"agentId":"two"}\n'])
    const [created, ...rest] = recordsIn(logFile(cwd, 'two'))
    assert.equal([created?.type, rest.length], ['agent.created', 0])
    const shown = await runCli(context, ['show', 'two'], { cwd })
    assert.match(shown.stdout, /"text": "Good day\."/)
  })

  atTerminal(it, 'says how to go on with it, by code where the agent is not ours', async (context) => {
    const cwd = await folderWithOne(context)
    const ours = { name: cliAgentName, instructions: instructionsFor(cwd) }
    await recordSession(cwd, { id: 'ours', prompts: ['Hello'], replies: ['Good day.'], ...ours })
    const fork = (id: string) =>
      startAtTerminal(context, ['fork', id, '--at', 'n1', '--id', `${id}-2`, '--dir', cwd], { cwd }).ended
    const [other, own] = await Promise.all([fork('one'), fork('ours')])
    assert.match(plain(other.stdout), /^one-2\nContinue it: runtime\.resume\("one-2", <definition "tester">\)/)
    assert.match(plain(own.stdout), new RegExp(`^ours-2\nContinue it: escapement resume ours-2 --dir ${cwd}`))
  })

  it('refuses a node that is none, and none at all', { timeoutMs }, async (context) => {
    const cwd = await folderWithOne(context)
    const [none, far, taken] = await Promise.all([
      runCli(context, ['fork', 'one'], { cwd }),
      runCli(context, ['fork', 'one', '--at', 'n9'], { cwd }),
      runCli(context, ['fork', 'one', '--at', 'n1', '--id', 'one'], { cwd }),
    ])
    assert.equal([none.code, far.code, taken.code], [2, 1, 1])
    assert.match(none.stderr, /"fork" needs --at <node>, like --at n12/)
    assert.match(far.stderr, /no node n9; its newest is n2.*NODE_NOT_FOUND/)
    assert.match(taken.stderr, /AGENT_EXISTS/)
  })
})

describe('escapement delete', (it) => {
  it(
    'wants --yes where nobody can be asked, and keeps what others were forked from',
    { timeoutMs },
    async (context) => {
      const cwd = await folderWithOne(context)
      const unsure = await runCli(context, ['delete', 'one'], { cwd })
      assert.is(unsure.code, 2)
      assert.match(unsure.stderr, /"one" was not deleted: without a terminal, confirm with --yes/)
      await runCli(context, ['fork', 'one', '--at', 'n2', '--id', 'two'], { cwd })
      const used = await runCli(context, ['delete', 'one', '--yes'], { cwd })
      assert.is(used.code, 1)
      assert.match(used.stderr, /two is forked from it.*SESSION_IN_USE/)
      assert.ok(existsSync(logFile(cwd, 'one')))
      const gone = await runCli(context, ['delete', 'two', '--yes'], { cwd })
      assert.equal([gone.code, gone.stdout], [0, '{"deleted":"two"}\n'])
      assert.not(existsSync(logFile(cwd, 'two')))
    },
  )

  atTerminal(it, 'asks at a terminal', async (context) => {
    const cwd = await folderWithOne(context)
    const kept = startAtTerminal(context, ['delete', 'one'], { cwd })
    await kept.until('Delete "one" for good?')
    kept.send('\r')
    assert.is((await kept.ended).code, 1)
    const stopped = startAtTerminal(context, ['delete', 'one'], { cwd })
    await stopped.until('Delete "one" for good?')
    stopped.send('\u0003')
    assert.is((await stopped.ended).code, 130)
    assert.ok(existsSync(logFile(cwd, 'one')))
    const gone = startAtTerminal(context, ['delete', 'one'], { cwd })
    await gone.until('Delete "one" for good?')
    gone.send('y\r')
    assert.is((await gone.ended).code, 0)
    assert.not(existsSync(logFile(cwd, 'one')))
  })
})

describe('escapement export and import', (it) => {
  it('carry a fork with its source to another folder', { timeoutMs }, async (context) => {
    const cwd = await folderWithOne(context)
    await runCli(context, ['fork', 'one', '--at', 'n2', '--id', 'two'], { cwd })
    const exported = await runCli(context, ['export', 'two'], { cwd })
    assert.is(exported.code, 0)
    const elsewhere = projectFolder(context)
    const args = ['import', '-', '--dir', elsewhere]
    const imported = await runCli(context, args, { cwd, input: exported.stdout })
    assert.equal([imported.code, imported.stdout], [0, '{"agentIds":["one","two"]}\n'], imported.stderr)
    for (const id of ['one', 'two']) {
      const source = recordsIn(logFile(cwd, id))
      const shared = id === 'one' ? source.slice(0, recordsIn(logFile(elsewhere, id)).length) : source
      const foreign = shared.map((record) => ({ ...record, foreign: true }))
      assert.equal(recordsIn(logFile(elsewhere, id)), foreign)
    }
    assert.is(readFileSync(join(elsewhere, '.escapement', '.gitignore'), 'utf8'), '*\n')
  })

  it('write a new file, and leave one that is there alone', { timeoutMs }, async (context) => {
    const cwd = await folderWithOne(context)
    const [first, toPipe] = await Promise.all([
      runCli(context, ['export', 'one', '--out', 'one.jsonl'], { cwd }),
      runCli(context, ['export', 'one'], { cwd }),
    ])
    assert.is(first.code, 0, first.stderr)
    const text = readFileSync(join(cwd, 'one.jsonl'), 'utf8')
    assert.is(text, toPipe.stdout)
    const lines = text.trimEnd().split('\n').length
    assert.equal(JSON.parse(first.stdout), { agentId: 'one', file: 'one.jsonl', lines })
    const again = await runCli(context, ['export', 'one', '--out', 'one.jsonl'], { cwd })
    assert.is(again.code, 2)
    assert.match(again.stderr, /--out one\.jsonl cannot be written/)
    assert.is(readFileSync(join(cwd, 'one.jsonl'), 'utf8'), text)
  })

  it('write a conversation as Markdown, and as a test of what it should have been', { timeoutMs }, async (context) => {
    const cwd = await folderWithOne(context)
    const run = (...args: string[]) => runCli(context, ['export', 'one', ...args], { cwd })
    const [log, markdown, test, had] = await Promise.all([
      run('--jsonl'),
      run('--markdown'),
      run('--test', '--expect', 'Good night.', '--out', 'one.test.ts'),
      run('--test', '--expect', 'Good day.'),
    ])
    assert.match(log.stdout, /^\{"format":"escapement\.session"/)
    assert.is(markdown.stdout, '# Hello\n\n## User\n\nHello\n\n## Assistant\n\nGood day.\n')
    assert.is(test.code, 0, test.stderr)
    const source = readFileSync(join(cwd, 'one.test.ts'), 'utf8')
    assert.match(source, 'const result = await agent.prompt("Hello").result')
    assert.match(source, 'assert.ok(result.text.includes("Good night.")')
    assert.is(JSON.parse(test.stdout).lines, source.trimEnd().split('\n').length)
    assert.match(had.stderr, /the recorded session already passes: the answer has that already/)
    const mistakes = await Promise.all([
      run('--test', '--markdown'),
      run('--expect', 'x'),
      run('--test', '--expect', ' '),
    ])
    assert.equal(
      mistakes.map(({ code }) => code),
      [2, 2, 2],
    )
    assert.match(mistakes[1].stderr, /--expect needs --test/)
  })

  it('take in nothing of a file that is none, or is not there', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    writeFileSync(join(cwd, 'other.json'), '{"name":"other"}\n')
    const [other, missing] = await Promise.all([
      runCli(context, ['import', 'other.json'], { cwd }),
      runCli(context, ['import', 'missing.jsonl'], { cwd }),
    ])
    assert.equal([other.code, missing.code], [1, 1])
    assert.match(other.stderr, /The file is not an exported session: it begins with .*FOREIGN_FORMAT/)
    assert.match(missing.stderr, /missing\.jsonl could not be read/)
    assert.equal(readdirSync(cwd), ['other.json'])
  })
})

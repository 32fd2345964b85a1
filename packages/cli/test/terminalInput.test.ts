import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { helpfulAgent } from './cliAgents.ts'
import { projectFolder } from './cliChild.ts'
import { startCli } from './cliInProcess.ts'
import { endlessProject } from './cliProjects.ts'

const up = '\u001B[A'
const esc = '\u001B[27u'
const shiftEnter = '\u001B[13;2u'

/** A chat in a folder, at its prompt. */
async function chatIn(context: CaseContext, dir: string, env: NodeJS.ProcessEnv = {}) {
  const cli = startCli(context, ['chat', '--dir', dir, '--model', 'embedded', '--no-config'], { isTerminal: true, env })
  await cli.until('› ')
  return cli
}

/** Messages of people in the only log of a folder. */
function saidIn(dir: string): string[] {
  const logs = join(dir, '.escapement')
  const records = readdirSync(logs)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(logs, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as { type: string; message?: { role: string; content: { text?: string }[] } })
  return records.flatMap(({ type, message }) =>
    type === 'message.added' && message?.role === 'user' ? message.content.map(({ text = '' }) => text) : [],
  )
}

describe('what is typed in a chat', (it) => {
  it('lists the commands that fit, and says how many more there are', { timeoutMs: 20_000 }, async (context) => {
    const cli = await chatIn(context, projectFolder(context))
    cli.send('/')
    await cli.until('› /steer')
    await cli.until(' more (↑ ↓)')
    cli.send('st')
    await cli.until('› /steer')
    assert.not.match(cli.stdout.slice(cli.stdout.lastIndexOf('› /st')), 'more (↑ ↓)')
  })

  it('is one message of several lines', { timeoutMs: 20_000 }, async (context) => {
    const dir = projectFolder(context)
    const cli = await chatIn(context, dir)
    cli.send(`one${shiftEnter}two\\\rthree\r`)
    await cli.until('› one\n  two\n  three')
    await cli.until('not done')
    assert.equal(saidIn(dir), ['one\ntwo\nthree'])
  })

  it(
    'can be had again in the next chat of the folder, by its owner alone and without keys',
    { timeoutMs: 20_000 },
    async (context) => {
      const dir = projectFolder(context)
      const key = `sk-ant-api03-${'a1B2'.repeat(24)}`
      const first = await chatIn(context, dir)
      first.send(`one${shiftEnter}two\r`)
      await first.until('not done')
      first.send(`my key is ${key}\r`)
      await first.until('not done')
      first.send('\u0004')
      assert.is(await first.ended, 0)
      const kept = readFileSync(join(dir, '.escapement', 'history'), 'utf8')
      assert.not.match(kept, /a1B2a1B2/)
      const second = await chatIn(context, dir)
      second.send(`${up}${up}`)
      await second.until('› one\n  two')
      second.send(' three\r')
      await second.until('not done')
      assert.equal(saidIn(dir).toSorted().at(-1), 'one\ntwo three')
    },
  )

  it('takes the files along that it names', { timeoutMs: 20_000 }, async (context) => {
    const dir = projectFolder(context, { 'src/main.js': 'let a\n' })
    const cli = await chatIn(context, dir)
    cli.send('see @src/main.js\r')
    // After it, though it names none.
    cli.send('and then\r')
    await cli.until('(with src/main.js · 1 line)')
    await cli.until('not done')
    const [first, second] = saidIn(dir)
    assert.is(first, 'see @src/main.js\n\n<file path="src/main.js">\nlet a\n</file>')
    if (second !== undefined) assert.is(second, 'and then')
  })

  it('is completed from the files of the folder', { timeoutMs: 20_000 }, async (context) => {
    const dir = projectFolder(context, { 'src/main.js': 'let a\n', 'src/other.js': '' })
    const cli = await chatIn(context, dir)
    cli.send('see @mai')
    await cli.until('› @src/main.js')
    cli.send('\t')
    await cli.until('› see @src/main.js ')
  })

  it('stops the work with Esc, and the chat goes on', { timeoutMs: 20_000 }, async (context) => {
    const cli = await chatIn(context, projectFolder(context, endlessProject))
    cli.send('fix the test\r')
    await cli.until('allow it?')
    cli.send('half a thought')
    await cli.until('half a thought')
    cli.send(esc)
    await cli.until('(stopped)')
    await cli.until('aborted')
    cli.send('\u0003\u0004')
    assert.is(await cli.ended, 0)
  })

  it('is put aside by a question, and back after the answer', { timeoutMs: 20_000 }, async (context) => {
    const { definition } = helpfulAgent()
    const { runtime, server } = await serveAgents(context, [definition])
    const agent = await runtime.spawn(definition, { id: 'a1' })
    const cli = startCli(context, ['attach', server.url, 'a1'], { isTerminal: true })
    await cli.until('› ')
    cli.send('half a thought')
    await cli.until('› half a thought')
    void agent.prompt('wipe')
    await cli.until('allow it?')
    assert.is(agent.pending().length, 1)
    cli.send('n\r')
    await cli.until('› half a thought')
    await cli.until('✓ done')
    assert.is(agent.pending().length, 0)
  })

  it('is searched in whole, pastes too', { timeoutMs: 20_000 }, async (context) => {
    const dir = projectFolder(context)
    const cli = await chatIn(context, dir)
    cli.send('\u001B[200~alpha\rbeta\u001B[201~\r')
    await cli.until('not done')
    cli.send('\u0012bet')
    await cli.until('search "bet": [pasted 2 lines]')
    cli.send('\r\r')
    await cli.until('not done')
    assert.equal(saidIn(dir), ['alpha\nbeta', 'alpha\nbeta'])
  })

  it(
    'is no more than a line where it is piped, or where the terminal is dumb',
    { timeoutMs: 20_000 },
    async (context) => {
      const dir = projectFolder(context, { 'a.txt': 'text' })
      const piped = startCli(context, ['chat', '--dir', dir, '--model', 'embedded', '--no-config'], {
        input: 'see @a.txt\\\n',
      })
      assert.is(await piped.ended, 1)
      assert.equal(saidIn(dir), ['see @a.txt\\'])
      assert.ok(!piped.raw.includes('\u001B'))
      assert.ok(!readdirSync(join(dir, '.escapement')).includes('history'))
      const dumb = await chatIn(context, dir, { TERM: 'dumb' })
      dumb.send('hello @a.txt\r')
      await dumb.until('› hello @a.txt\n')
      await dumb.until('not done')
      assert.equal(saidIn(dir).toSorted(), ['hello @a.txt', 'see @a.txt\\'])
      dumb.send('\u0004')
      assert.is(await dumb.ended, 0)
      // oxlint-disable-next-line no-control-regex -- modes are switched by these
      assert.not.match(dumb.raw, /\u001B\[[?>]/)
    },
  )
})

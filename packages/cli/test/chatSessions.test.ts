import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { endedCli, startCli } from './cliInProcess.ts'

const timeoutMs = 20_000
const down = '\u001B[B'

const start = (context: CaseContext, dir: string, ...options: readonly string[]) =>
  startCli(context, ['chat', '--dir', dir, '--model', 'embedded', '--no-config', ...options], { isTerminal: true })

/** A folder in which these were said, each in a session of its own, the last one last. */
async function folderWith(context: CaseContext, ...said: readonly string[]): Promise<string> {
  const dir = projectFolder(context)
  for (const text of said) await piped(context, dir, `${text}\n`)
  return dir
}

const piped = (context: CaseContext, dir: string, input: string, ...options: readonly string[]) =>
  endedCli(context, ['chat', '--dir', dir, '--model', 'embedded', '--no-config', ...options], { input })

const sessionsIn = (dir: string): number =>
  readdirSync(join(dir, '.escapement')).filter((name) => name.endsWith('.jsonl')).length

describe('a chat without an id', (it) => {
  it('goes on with the newest session, at a terminal and over a pipe', { timeoutMs }, async (context) => {
    const dir = await folderWith(context, 'the first thing', 'the second thing')
    const cli = start(context, dir, '--continue')
    await cli.until('the second thing')
    await cli.until('› ')
    cli.send('and on\r')
    await cli.until('not done')
    cli.send('\u0004')
    assert.is(await cli.ended, 0)
    assert.not.match(cli.stdout, /the first thing/)
    const { code, stdout, stderr } = await piped(context, dir, 'once more\n', '-c')
    assert.match(stdout, /I am the embedded model/, stderr)
    assert.is(code, 1)
    assert.is(sessionsIn(dir), 2)
  })

  it('asks which one, narrowed by what is typed, and by Esc begins none', { timeoutMs }, async (context) => {
    const dir = await folderWith(context, 'the first thing', 'the second thing')
    const cli = start(context, dir, '--pick')
    await cli.until('› the second thing  ')
    await cli.until('  the first thing ')
    cli.send('first')
    await cli.until('› the first thing ')
    cli.send('\r')
    await cli.until('/help')
    cli.send('\u0004')
    assert.is(await cli.ended, 0)
    const left = start(context, dir, '--pick')
    await left.until('› the second thing')
    left.send('\u001B[27u')
    assert.is(await left.ended, 0)
    assert.is(sessionsIn(dir), 2)
  })

  it('says what is wrong where there is nothing to go on with, or nobody to ask', async (context) => {
    const dir = projectFolder(context)
    for (const [options, code, said] of [
      [['--continue'], 1, /no session to continue/],
      [['--pick'], 2, /--pick needs a terminal/],
      [['--pick', '--continue'], 2, /Use either --continue/],
    ] as const) {
      const ended = await piped(context, dir, '', ...options)
      assert.is(ended.code, code, ended.stderr)
      assert.match(ended.stderr, said)
    }
  })
})

describe('/sessions', (it) => {
  it('leads to another session of the folder, and back', { timeoutMs }, async (context) => {
    const dir = await folderWith(context, 'the first thing')
    const cli = start(context, dir)
    await cli.until('› ')
    cli.send('the newest thing\r')
    await cli.until('not done')
    cli.send('/sessions\r')
    await cli.until('› the first thing ')
    cli.send('\r')
    await cli.until('recorded in')
    await cli.until('the first thing')
    await cli.until('› ')
    cli.send('/sessions\r')
    await cli.until('› the newest thing ')
    cli.send('\u001B[27u')
    await cli.until('› ')
    cli.send('still here\r')
    await cli.until('not done')
    cli.send('\u0004')
    assert.is(await cli.ended, 0)
    assert.is(sessionsIn(dir), 2)
  })

  it('has none where there is no other, and is no command of a pipe', { timeoutMs }, async (context) => {
    const dir = projectFolder(context)
    // One in which nothing was said is like a new one.
    await piped(context, dir, '')
    const cli = start(context, dir)
    await cli.until('› ')
    cli.send(`/ses\r${down}`)
    await cli.until('no other session')
    cli.send('\u0004')
    assert.is(await cli.ended, 0)
    assert.match((await piped(context, dir, '/sessions\n')).stdout, /\/sessions needs a terminal/)
  })
})

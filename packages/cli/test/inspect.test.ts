import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { connect } from '../../bridge/src/client/connect.ts'
import { recordSession } from './cliSessions.ts'
import { projectFolder } from './cliChild.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { endedCli, startCli } from './cliInProcess.ts'

async function recorded(context: CaseContext): Promise<string> {
  const dir = projectFolder(context)
  await recordSession(dir, { id: 'coder-1', prompts: ['Look.'], replies: ['I looked.'] })
  return dir
}

const placesIn = (stdout: string): { page: string; url: string } => JSON.parse(stdout) as { page: string; url: string }

describe('escapement inspect', (it) => {
  it('serves the page over a log, from which one may read and nothing else', async (context) => {
    const dir = await recorded(context)
    const cli = startCli(context, ['inspect', 'coder-1', '--dir', dir])
    await cli.until('\n')
    const { page, url } = placesIn(cli.stdout)
    assert.match(page, /^http:\/\/127\.0\.0\.1:\d+\/#agent=coder-1$/)
    assert.ok([200, 503].includes((await fetch(page)).status))
    const client = connect(url)
    context.cleanup(() => client.close())
    await client.ready
    assert.equal([client.role, client.definitions], ['observe', []])
    assert.equal(
      (await client.sessions()).sessions.map(({ agentId, status }) => [agentId, status]),
      [['coder-1', 'completed']],
    )
    assert.is((await client.agent('coder-1').conversation()).nodes.length, 2)
    await assert.rejects(client.agent('coder-1').steer('x'), /BRIDGE_FORBIDDEN|needs the right/)
    cli.signal()
    assert.is(await cli.ended, 0)
  })

  it('shows all sessions of a folder, at a terminal as a line to click', async (context) => {
    const dir = await recorded(context)
    const cli = startCli(context, ['inspect', '--dir', dir], { isTerminal: true })
    await cli.until('Ctrl-C stops it.')
    assert.match(cli.stdout, /^http:\/\/127\.0\.0\.1:\d+\/\r?\n/)
    cli.signal()
    assert.is(await cli.ended, 0)
  })

  it('asks for the token it was given, and refuses what it cannot do', async (context) => {
    const dir = await recorded(context)
    const token = 'a-token-of-some-length'
    const cli = startCli(context, ['inspect', '--dir', dir, '--token', token])
    await cli.until('\n')
    const { url } = placesIn(cli.stdout)
    const stranger = connect(url)
    await assert.rejects(stranger.ready, /token is missing/)
    const client = connect(url, { token })
    await client.ready
    assert.is(client.role, 'observe')
    client.close()
    cli.signal()
    await cli.ended
    for (const [args, says] of [
      [['coder-2'], /There is no session "coder-2".*Did you mean "coder-1"/],
      [['coder-1', '--port', 'x'], /--port takes a number/],
      [['coder-1', '--host', '0.0.0.0'], /there are no tokens/],
    ] as const) {
      const { code, stderr } = await endedCli(context, ['inspect', ...args, '--dir', dir])
      assert.not.equal(code, 0)
      assert.match(stderr, says)
    }
  })
})

describe('a demo', (it) => {
  const url = /Watch and drive it: (http:\S+)/

  it('has the page beside it, and stays with it when told to', { timeoutMs: 60_000 }, async (context) => {
    const cli = startCli(context, ['demo', 'sort', '--stay'])
    await cli.until('Watch and drive it:')
    await cli.until('\n')
    assert.match(cli.stdout, 'must sort 60000 numbers within 1500 ms')
    const page = url.exec(cli.stdout)![1]!
    const [place, agentId] = page.split('#agent=')
    const client = connect(`${place!.replace('http', 'ws')}bridge`)
    context.cleanup(() => client.close())
    await client.ready
    assert.equal(client.definitions, ['escapement-coder', 'sorter'])
    const { agents } = await client.agents()
    assert.equal(
      agents.map((agent) => agent.agentId),
      [agentId],
    )
    await cli.until('The page stays at')
    assert.ok((await client.agent(agentId!).conversation('log')).nodes.length > 8)
    cli.signal()
    // A busy machine may keep even a fast sort from its limit, and then the demo says so.
    assert.is(await cli.ended, cli.stdout.includes('it sorts other numbers') ? 0 : 1, cli.stderr)
  })

  it('ends where its port is none or taken, and without one', { timeoutMs: 60_000 }, async (context) => {
    const taken = createServer().listen(0, '127.0.0.1')
    context.cleanup(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    for (const [given, code, says] of [
      ['x', 2, /--port takes a number up to 65535, not "x"/],
      [String(port), 1, /BRIDGE_LISTEN_FAILED/],
    ] as const)
      for (const command of [['demo'], ['demo', 'sort']]) {
        const ended = await endedCli(context, [...command, '--port', given])
        assert.equal([ended.code, ended.stdout.includes('done')], [code, false], ended.stderr)
        assert.match(ended.stderr, says)
      }
  })

  it('goes without the page, for data or when told to', { timeoutMs: 60_000 }, async (context) => {
    const without = await endedCli(context, ['demo', '--no-serve'])
    assert.equal([without.code, url.test(without.stdout)], [0, false])
    const data = await endedCli(context, ['demo', '--json'])
    assert.is(data.code, 0)
    for (const line of data.stdout.trimEnd().split('\n')) JSON.parse(line)
  })
})

import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { serverUrl } from '../src/sessions/withServer.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { helpfulAgent } from './cliAgents.ts'
import { endedCli, startCli } from './cliInProcess.ts'

const tokens = {
  'admin-of-the-server': 'admin',
  'drives-what-is-there': 'drive',
  'only-looks-at-things': 'observe',
} as const
const isTerminal = true
const ctrlC = '\u0003'
const ctrlD = '\u0004'

/** A server with one agent, "a1". */
async function served(context: CaseContext) {
  const { definition, open } = helpfulAgent()
  context.cleanup(open)
  const serving = await serveAgents(context, [definition], { tokens })
  const agent = await serving.runtime.spawn(definition, { id: 'a1' })
  const attach = (...args: readonly string[]) =>
    startCli(context, ['attach', serving.server.url, ...args, '--token', 'admin-of-the-server'], { isTerminal })
  return { ...serving, agent, definition, open, attach, url: serving.server.url }
}

describe('the address of a server', (it) => {
  for (const [written, url] of [
    ['ws://127.0.0.1:80/bridge', 'ws://127.0.0.1/bridge'],
    ['http://example.test:8080', 'ws://example.test:8080/bridge'],
    ['https://example.test/agents/bridge', 'wss://example.test/agents/bridge'],
    ['https://example.test/agents/', 'wss://example.test/agents/bridge'],
    ['http://example.test:8080/bridge/', 'ws://example.test:8080/bridge'],
    ['localhost:8080', 'ws://localhost:8080/bridge'],
    ['localhost:8080/', 'ws://localhost:8080/bridge'],
    ['[::1]:8080', 'ws://[::1]:8080/bridge'],
  ] as const)
    it(`is understood as ${written}`, () => assert.is(serverUrl(written), url))

  for (const written of ['ftp://x:1', 'nonsense', 'http://', 'localhost:99999', 'ws://me:secret@x:1', 'a b:1'])
    it(`is refused as ${written}`, () => assert.throws(() => serverUrl(written), /is not the address of a server/))
})

describe('escapement attach at a terminal', (it) => {
  it('attaches to the only agent, shows what was said, and talks', async (context) => {
    const { agent, attach } = await served(context)
    await agent.prompt('good day').result
    const cli = attach()
    await cli.until('user: good day')
    await cli.until('You said: good day')
    await cli.until('escapement · a1 · ')
    cli.send('hello\r')
    await cli.until('You said: hello')
    await cli.until('✓ done')
    cli.send(ctrlD)
    assert.is(await cli.ended, 0)
    assert.match(cli.stdout, /detached; reattach with: escapement attach ws:\/\/\S+ a1\n$/)
    assert.not.match(cli.stdout, /\(prompt: hello\)/)
  })

  it('prompts an agent at rest, and does not take it for one at work', async (context) => {
    const { agent, attach, store } = await served(context)
    await agent.prompt('good day').result
    await agent.close()
    const looking = attach('a1')
    await looking.until('› ')
    looking.send(ctrlD)
    assert.is(await looking.ended, 0)
    assert.not.match(looking.stdout, /the run continues|● at rest/)
    const talking = attach('a1')
    await talking.until('› ')
    talking.send('hello\r')
    await talking.until('You said: hello')
    await talking.until('✓ done')
    const causes: string[] = []
    for await (const record of store.read('a1')) if (record.type === 'run.start') causes.push(record.cause)
    assert.equal(causes, ['prompt', 'prompt'])
  })

  it('leaves the agent at work at Ctrl-C, and finds it there again', async (context) => {
    const { agent, attach, open } = await served(context)
    const first = attach('a1')
    await first.until('› ')
    first.send('work\r')
    await first.until('runs work')
    first.send(ctrlC)
    assert.is(await first.ended, 0)
    assert.match(first.stdout, /detached; the run continues; /)
    assert.is(agent.state, 'executing')
    const second = attach('a1')
    await second.until('● runs tools')
    open()
    await second.until('The tool said: worked')
    await second.until('✓ done')
    second.send('/quit\r')
    assert.is(await second.ended, 0)
  })

  it('asks about a call that waits already, and takes the answer', async (context) => {
    const { agent, attach } = await served(context)
    const run = agent.prompt('wipe')
    await untilHeld(agent)
    const cli = attach()
    await cli.until('? wipe: {"disk":"c"}')
    await cli.until('allow it?')
    cli.send('y\r')
    await cli.until('The tool said: wiped')
    assert.is((await run.result).text, 'The tool said: wiped')
  })

  it('withdraws a question that another has answered', async (context) => {
    const { agent, attach } = await served(context)
    const cli = attach()
    await cli.until('› ')
    cli.send('wipe\r')
    await cli.until('allow it?')
    agent.decide(agent.approvals()[0]!.callId, 'approve')
    await cli.until('The tool said: wiped')
    cli.send('hello\r')
    await cli.until('You said: hello')
  })

  for (const [line, text] of [
    ['/approve', 'The tool said: wiped'],
    ['/deny not today', 'not today'],
    ['/abort', '✗ aborted'],
  ] as const)
    it(`takes ${line} while a question is asked`, async (context) => {
      const { attach } = await served(context)
      const cli = attach()
      await cli.until('› ')
      cli.send('wipe\r')
      await cli.until('allow it?')
      cli.send(`${line}\r`)
      await cli.until(text)
      await cli.until('› ')
      cli.send('hello\r')
      await cli.until('You said: hello')
    })

  it('steers, says what comes afterwards, and shows what others say', async (context) => {
    const { agent, attach, open } = await served(context)
    const cli = attach()
    await cli.until('› ')
    cli.send('work\r')
    await cli.until('runs work')
    cli.send('/followup and then\r')
    await cli.until('queued until the agent finishes')
    agent.steer('from elsewhere')
    open()
    await cli.until('(steering: from elsewhere)')
    await cli.until('You said: from elsewhere')
    await cli.until('You said: and then')
    await cli.until('✓ done')
  })

  it('gives a line typed right after a prompt to the run of that', async (context) => {
    const { agent, attach } = await served(context)
    const cli = attach()
    await cli.until('› ')
    const sources: string[] = []
    agent.subscribe((event) => event.type === 'message.added' && sources.push(event.message.source))
    cli.send('one\rtwo\r')
    await cli.until('You said: two')
    assert.equal(sources, ['prompt', 'steering'])
  })

  it('starts a new agent of a definition', async (context) => {
    const { attach, runtime } = await served(context)
    const cli = attach('b2', '--spawn', 'helper')
    await cli.until('escapement · b2')
    assert.is(runtime.agent('b2')?.definition, 'helper')
  })

  it('lets an observer watch, and says that it may not speak', async (context) => {
    const { agent, url } = await served(context)
    const cli = startCli(context, ['attach', url, '--token', 'only-looks-at-things'], { isTerminal })
    await cli.until('read-only')
    const held = untilHeld(agent)
    const run = agent.prompt('wipe')
    await cli.until('wipe')
    await held
    agent.decide(agent.approvals()[0]!.callId, 'approve')
    await run.result
    await cli.until('✓ done')
    cli.send('hello\r')
    await cli.until('needs the right "talk"')
    assert.not.match(cli.stdout, /allow it/)
  })

  it(
    'says when the connection is lost and back, and loses nothing that was said',
    { timeoutMs: 10_000 },
    async (context) => {
      const { definition } = helpfulAgent()
      const folder = await storeFolder(context)
      const first = await createRuntime({ store: folder.store() })
      const { port, url } = await first.serve({ definitions: [definition], limits: { drainMs: 50 } })
      await first.spawn(definition, { id: 'a1' })
      const cli = startCli(context, ['attach', url], { isTerminal })
      await cli.until('› ')
      cli.send('before\r')
      await cli.until('✓ done')
      await first.close()
      await cli.until('(connection lost; reconnecting…)')
      cli.send('meanwhile\r')
      const again = await createRuntime({ store: folder.store() })
      context.cleanup(() => again.close())
      await again.serve({ port, definitions: [definition], limits: { drainMs: 50 } })
      await cli.until('(back)')
      await cli.until('You said: meanwhile')
      await cli.until('✓ done')
    },
  )

  for (const [name, quit] of [
    ['Ctrl-C', ctrlC],
    ['Ctrl-D', ctrlD],
    ['/quit', '/quit\r'],
  ] as const)
    it(
      `waits at ${name} for what was said to arrive, and at the next Ctrl-C no more`,
      { timeoutMs: 10_000 },
      async (context) => {
        const { attach, runtime } = await served(context)
        const cli = attach()
        await cli.until('› ')
        await runtime.close()
        await cli.until('reconnecting')
        cli.send('hello\r')
        cli.send(quit)
        await cli.until('leaving once the server has your message')
        cli.signal()
        assert.is(await cli.ended, 130)
      },
    )

  it('ends when the agent is stopped for good', async (context) => {
    const { agent, attach } = await served(context)
    const cli = attach()
    await cli.until('› ')
    await agent.stop()
    await cli.until('stopped for good')
    assert.is(await cli.ended, 0)
  })
})

describe('escapement attach over a pipe', (it) => {
  it('answers each line before the next, and denies what nobody can be asked about', async (context) => {
    const { url } = await served(context)
    const args = ['attach', url, '--token', 'drives-what-is-there']
    const { code, stdout } = await endedCli(context, args, { input: 'one\n/help\nwipe\ntwo\n' })
    assert.is(code, 0)
    const at = ['You said: one', '/approve', '✗ wipe', 'run with --yes', 'You said: two', 'detached'].map((text) =>
      stdout.indexOf(text),
    )
    assert.equal(
      at,
      at.toSorted((a, b) => a - b),
      stdout,
    )
    assert.ok(!at.includes(-1), stdout)
  })

  it('writes events with --json, and allows with --yes', async (context) => {
    const { url } = await served(context)
    const env = { ESCAPEMENT_TOKEN: 'drives-what-is-there' }
    const { code, stdout, stderr } = await endedCli(context, ['attach', url, 'a1', '--json', '--yes'], {
      input: 'wipe\n',
      env,
    })
    assert.is(code, 0, stderr)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    assert.is(events.filter(({ type }) => type === 'run.end').length, 1)
    assert.match(stdout, /The tool said: wiped/)
    assert.match(stderr, /detached/)
  })

  it('exits with 1 when a prompt fails or is refused', async (context) => {
    const { url } = await served(context)
    const failed = await endedCli(context, ['attach', url, '--token', 'admin-of-the-server'], { input: 'fail\n' })
    assert.equal([failed.code, /^! .*no idea.*\n✗ failed ·/m.test(failed.stdout)], [1, true])
    const refused = await endedCli(context, ['attach', url, '--token', 'only-looks-at-things'], { input: 'hello\n' })
    assert.is(refused.code, 1)
    assert.match(refused.stderr, /^escapement: .*needs the right "talk".*\(BRIDGE_FORBIDDEN\)\n$/)
  })

  it('leaves the run of a piped prompt alone at Ctrl-C', async (context) => {
    const { agent, url, open } = await served(context)
    const cli = startCli(context, ['attach', url, '--token', 'admin-of-the-server'])
    const working = untilState(agent, 'executing')
    cli.send('work\n')
    await working
    cli.signal()
    assert.is(await cli.ended, 130)
    assert.is(agent.state, 'executing')
    open()
  })
})

describe('escapement attach that cannot', (it) => {
  it('names what is wrong in one line', async (context) => {
    const { url, server } = await served(context)
    const admin = ['--token', 'admin-of-the-server']
    const [wrongToken, noToken, noAgent, badId, noServer, notOne, missing, unknown] = await Promise.all([
      endedCli(context, ['attach', url, '--token', 'not-the-right-token']),
      endedCli(context, ['attach', url]),
      endedCli(context, ['attach', url, 'nobody', ...admin]),
      endedCli(context, ['attach', url, 'a b', ...admin]),
      endedCli(context, ['attach', '127.0.0.1:1', 'a1']),
      endedCli(context, ['attach', 'nonsense', 'a1']),
      endedCli(context, ['attach']),
      endedCli(context, ['attach', `http://127.0.0.1:${server.port}`, '--spawn', 'other', ...admin]),
    ])
    const all = [wrongToken, noToken, noAgent, badId, noServer, notOne, missing, unknown]
    assert.equal(
      all.map(({ code }) => code),
      [1, 1, 1, 1, 1, 2, 2, 2],
    )
    for (const { stderr, stdout } of all) {
      assert.match(stderr, /^escapement: /)
      assert.is(stdout, '')
    }
    for (const { stderr } of all.filter((one) => one !== missing)) assert.is(stderr.split('\n').length, 2, stderr)
    assert.match(wrongToken.stderr, /BRIDGE_UNAUTHORISED/)
    assert.match(noToken.stderr, /BRIDGE_UNAUTHORISED/)
    assert.match(noAgent.stderr, /no agent "nobody".*AGENT_NOT_FOUND/)
    assert.match(badId.stderr, /INVALID_ID/)
    assert.match(noServer.stderr, /No escapement server answers at ws:\/\/127\.0\.0\.1:1\/bridge/)
    assert.match(notOne.stderr, /"nonsense" is not the address of a server/)
    assert.match(missing.stderr, /needs a server URL, like: escapement attach ws:/)
    assert.match(unknown.stderr, /no definition "other"/)
  })

  it('says how to start one when there is none, to who may', async (context) => {
    const { server } = await serveAgents(context, [helpfulAgent().definition], { tokens })
    const attach = (token: string) => endedCli(context, ['attach', server.url, '--token', token])
    const [admin, driver] = await Promise.all([attach('admin-of-the-server'), attach('drives-what-is-there')])
    assert.equal([admin.code, driver.code], [1, 1])
    assert.match(
      admin.stderr,
      /No agent is running there\. A stored one .* <id>\nA new one: escapement attach ws:\S+ --spawn helper\n/,
    )
    assert.not.match(driver.stderr, /--spawn/)
  })
})

type ServedAgent = Awaited<ReturnType<typeof served>>['agent']

const untilHeld = async (agent: ServedAgent): Promise<void> => {
  for await (const event of agent.events()) if (event.type === 'approval.requested') return
}

const untilState = async (agent: ServedAgent, state: string): Promise<void> => {
  for await (const event of agent.events()) if (event.type === 'state.changed' && event.state === state) return
}

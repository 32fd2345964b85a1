import { createRuntime } from '../../bridge/src/createRuntime.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { helpfulAgent } from './cliAgents.ts'
import { endedCli, startCli } from './cliInProcess.ts'

const isTerminal = true

/** A server with one agent, "a1". */
async function served(context: CaseContext) {
  const { definition, open } = helpfulAgent()
  context.cleanup(open)
  const serving = await serveAgents(context, [definition])
  const agent = await serving.runtime.spawn(definition, { id: 'a1' })
  const words = (text: string, ...options: readonly string[]) => ['send', serving.server.url, 'a1', text, ...options]
  const untilState = async (state: string): Promise<void> => {
    for await (const event of agent.events()) if (event.type === 'state.changed' && event.state === state) return
  }
  return { ...serving, agent, open, words, untilState, url: serving.server.url }
}

const eventsIn = (stdout: string): AgentEvent[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AgentEvent)

describe('escapement send', (it) => {
  it('prints the answer as text at a terminal', async (context) => {
    const { words } = await served(context)
    const { code, stdout } = await endedCli(context, words('hello'), { isTerminal })
    assert.is(code, 0)
    assert.match(stdout, /You said: hello\n/)
    assert.match(stdout, /✓ done · 1 turn/)
  })

  it('prints the events of its own run and no other when piped', async (context) => {
    const { agent, words, untilState, open } = await served(context)
    const working = untilState('executing')
    const other = agent.prompt('work')
    await working
    const cli = startCli(context, words('hello'))
    await new Promise<void>((resolve) => agent.subscribe((event) => event.type === 'queue.changed' && resolve()))
    open()
    assert.is(await cli.ended, 0)
    await other.result
    const events = eventsIn(cli.stdout)
    assert.equal([events[0]?.type, events.at(-1)?.type], ['run.start', 'run.end'])
    const replies = events.flatMap((event) => (event.type === 'reply.end' ? event.message.content : []))
    assert.equal(replies, [{ type: 'text', text: 'You said: hello' }])
  })

  it('exits with 1 when the run is aborted, and when it fails', async (context) => {
    const { agent, words, untilState } = await served(context)
    const working = untilState('executing')
    const cli = startCli(context, words('work'))
    await working
    agent.abort()
    assert.is(await cli.ended, 1)
    assert.match(cli.stdout, /"stopReason":"aborted"/)
    const failed = await endedCli(context, words('fail'))
    assert.is(failed.code, 1)
    assert.match(failed.stdout, /"stopReason":"error"/)
  })

  it('denies what nobody can be asked about, allows it with --yes, and asks at a terminal', async (context) => {
    const { words } = await served(context)
    assert.match((await endedCli(context, words('wipe'))).stdout, /run with --yes/)
    assert.match((await endedCli(context, words('wipe', '--yes'))).stdout, /The tool said: wiped/)
    const cli = startCli(context, words('wipe'), { isTerminal })
    await cli.until('allow it?')
    cli.send('y\r')
    await cli.until('The tool said: wiped')
    assert.is(await cli.ended, 0)
  })

  const commands = {
    send: ['wipe', '--yes'],
    'send --steer': ['wipe', '--steer', '--yes'],
    attach: ['--json', '--yes'],
  } as const
  for (const [command, words] of Object.entries(commands))
    it(`leaves calls of a run that others began alone with ${command} --yes`, async (context) => {
      const { agent, url, untilState, open, connect } = await served(context)
      const working = untilState('executing')
      const other = agent.prompt('work')
      await working
      const queued = new Promise<void>((resolve) =>
        agent.subscribe((event) => event.type === 'queue.changed' && resolve()),
      )
      const cli = startCli(context, [command.replace(' --steer', ''), url, 'a1', ...words])
      if (command === 'attach') cli.send('wipe\n')
      await queued
      const asked = new Promise<string>((resolve) =>
        agent.subscribe((event) => event.type === 'approval.requested' && resolve(event.key)),
      )
      const isSteering = command === 'send --steer'
      if (!isSteering) agent.steer('wipe')
      open()
      const key = await asked
      // Time enough for the command to have decided it.
      for (let asks = 0; asks < 5; asks += 1) await connect().agent('a1').snapshot()
      agent.decide(key, 'deny', 'not here')
      assert.match((await other.result).text, /not here/)
      if (isSteering) return assert.is(await cli.ended, 0)
      // That of its own prompt it allows.
      await cli.until('The tool said: wiped')
    })

  for (const option of ['--steer', '--follow-up'])
    it(`allows with --yes what a run asks that it began with ${option}`, async (context) => {
      const { words } = await served(context)
      const { code, stdout } = await endedCli(context, words('wipe', option, '--yes'))
      assert.is(code, 0)
      assert.match(stdout, /The tool said: wiped/)
      assert.match((await endedCli(context, words('wipe', option))).stdout, /run with --yes/)
    })

  it('leaves the agent at work at Ctrl-C', async (context) => {
    const { agent, words } = await served(context)
    const cli = startCli(context, words('work'))
    await cli.until('"tool.start"')
    cli.signal()
    assert.is(await cli.ended, 130)
    assert.match(cli.stderr, /left the agent at work; see: escapement attach ws:\S+ a1/)
    assert.is(agent.state, 'executing')
  })

  for (const option of ['--steer', '--follow-up'])
    it(`says it into the run under way with ${option}`, async (context) => {
      const { agent, words, untilState, open } = await served(context)
      const working = untilState('executing')
      const run = agent.prompt('work')
      await working
      const cli = startCli(context, words('also this', option))
      await new Promise<void>((resolve) => agent.subscribe((event) => event.type === 'queue.changed' && resolve()))
      open()
      assert.is(await cli.ended, 0)
      assert.is((await run.result).text, 'You said: also this')
      assert.match(cli.stdout, /You said: also this/)
      assert.is(eventsIn(cli.stdout).filter(({ type }) => type === 'run.end').length, 1)
    })

  it('begins a run with --steer when the agent is at rest', async (context) => {
    const { words } = await served(context)
    const { code, stdout } = await endedCli(context, words('hello', '--steer'))
    assert.is(code, 0)
    assert.match(stdout, /"cause":"steering".*\n(?:.*\n)*.*You said: hello/)
  })

  it('ends with --no-wait once the server has it', async (context) => {
    const { agent, words, untilState, open } = await served(context)
    const working = untilState('executing')
    const { code, stdout } = await endedCli(context, words('work', '--no-wait'))
    assert.equal([code, stdout], [0, '{"agentId":"a1"}\n'])
    await working
    const queued = await endedCli(context, words('next', '--no-wait'), { isTerminal })
    assert.match(queued.stdout, /^a1 has it; see: escapement attach ws:\S+ a1\n$/)
    const steered = await endedCli(context, words('more', '--steer', '--no-wait'))
    assert.is(steered.code, 0)
    const texts = new Promise<readonly string[]>((resolve) => {
      const said: string[] = []
      agent.subscribe((event) => {
        if (event.type === 'message.added')
          said.push(...event.message.content.map((b) => (b.type === 'text' ? b.text : '')))
        if (said.length === 2) resolve(said)
      })
    })
    open()
    assert.equal(await texts, ['more', 'next'])
  })

  it('waits through a restart of the server', { timeoutMs: 10_000 }, async (context) => {
    const { definition } = helpfulAgent()
    const folder = await storeFolder(context)
    const first = await createRuntime({ store: folder.store() })
    const { port, url } = await first.serve({ definitions: [definition], limits: { drainMs: 50 } })
    const agent = await first.spawn(definition, { id: 'a1' })
    const cli = startCli(context, ['send', url, 'a1', 'wipe'], { isTerminal })
    await cli.until('allow it?')
    await first.close()
    const again = await createRuntime({ store: folder.store() })
    context.cleanup(() => again.close())
    // Before anybody is let in: who comes back in between finds an agent at rest, whose run was cut off.
    await again.resume(agent.id, definition)
    await again.serve({ port, definitions: [definition], limits: { drainMs: 50 } })
    await cli.until('allow it?')
    cli.send('y\r')
    await cli.until('The tool said: wiped')
    assert.is(await cli.ended, 0)
    assert.match(cli.stderr, /connection lost; reconnecting…\nback\n/)
  })

  it('refuses in one line what it cannot do', async (context) => {
    const { url } = await served(context)
    const [nobody, both, none, empty, noWait] = await Promise.all([
      endedCli(context, ['send', url, 'nobody', 'hello']),
      endedCli(context, ['send', url, 'a1', 'hello', '--steer', '--follow-up']),
      endedCli(context, ['send', url]),
      endedCli(context, ['send', url, 'a1']),
      endedCli(context, ['send', url, 'nobody', 'hello', '--no-wait']),
    ])
    assert.equal(
      [nobody, both, none, empty, noWait].map(({ code }) => code),
      [1, 2, 2, 2, 1],
    )
    assert.match(nobody.stderr, /^escapement: There is no agent "nobody".*\(AGENT_NOT_FOUND\)\n$/)
    assert.match(both.stderr, /either --steer or --follow-up, not both/)
    assert.match(none.stderr, /needs an agent id, like: escapement send 127/)
    assert.match(empty.stderr, /needs a text, like/)
  })

  it('refuses for an observer', async (context) => {
    const { definition } = helpfulAgent()
    const { runtime, server } = await serveAgents(context, [definition], {
      tokens: { 'only-looks-at-things': 'observe' },
    })
    await runtime.spawn(definition, { id: 'a1' })
    for (const options of [[], ['--steer'], ['--no-wait'], ['--steer', '--no-wait']]) {
      const args = ['send', server.url, 'a1', 'hello', '--token', 'only-looks-at-things', ...options]
      const { code, stdout, stderr } = await endedCli(context, args)
      assert.equal([code, stdout], [1, ''])
      assert.match(stderr, /^escapement: .*needs the right "talk".*\(BRIDGE_FORBIDDEN\)\n$/)
    }
  })
})

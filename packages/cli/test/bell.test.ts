import { PassThrough } from 'node:stream'
import { EventEmitter } from 'node:events'
import type { CliHost } from '../src/cliHost.ts'
import { eventPrinter } from '../src/terminal/eventPrinter.ts'
import { noColours } from '../src/terminal/colours.ts'
import { LiveScreen } from '../src/terminal/liveScreen.ts'
import type { AgentEvent } from '../../../src/index.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { helpfulAgent } from './cliAgents.ts'
import { startCli } from './cliInProcess.ts'

const focusOut = '\u001B[O'
const focusIn = '\u001B[I'

/** A screen that takes lines, and how often it rang since it was asked last. */
function openScreen(isSilent = false) {
  const [stdin, stdout] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 80 })]
  const signals = new EventEmitter()
  const host = { stdin, stdout, env: {}, on: signals.on.bind(signals), off: signals.off.bind(signals), isSilent }
  const clock = simulatedClock()
  const screen = new LiveScreen(host as unknown as CliHost, clock)
  const lines: string[] = []
  const ignore = (): void => {}
  screen.open({ prompt: '› ', onLine: (line) => void lines.push(line), onInterrupt: ignore, onEnd: ignore })
  const send = async (keys: string): Promise<void> => {
    stdin.write(keys)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const rang = (): number => String(stdout.read() ?? '').split('\u0007').length - 1
  const answers: (string | undefined)[] = []
  const ask = (): void => {
    void screen.ask('allow it? ', new AbortController().signal).then((answer) => answers.push(answer))
  }
  return { screen, clock, lines, answers, send, rang, ask }
}

describe('the bell of a terminal', (it) => {
  it('rings where a person is asked who has pressed no key lately', async () => {
    const { clock, send, rang, ask } = openScreen()
    ask()
    assert.is(rang(), 1)
    await send('y')
    ask()
    assert.is(rang(), 0)
    await clock.advance(6_000)
    ask()
    assert.is(rang(), 1)
  })

  it('does not ring while the terminal says that it is in the foreground, and does at once when it is not', async () => {
    const { clock, send, rang, ask, lines } = openScreen()
    await send(focusIn)
    await clock.advance(60_000)
    ask()
    assert.is(rang(), 0)
    await send(`hello${focusOut}`)
    ask()
    assert.is(rang(), 1)
    await send(' you\r')
    assert.equal(lines, [])
  })

  it('does not ring where none is wanted', () => {
    const { rang, ask, screen } = openScreen(true)
    ask()
    screen.ring()
    assert.is(rang(), 0)
  })

  it('rings at the end of a run that took long, and of no other', () => {
    const { screen, rang } = openScreen()
    const print = eventPrinter({ screen, colours: noColours, isPriced: true })
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const run = (ms: number): void => {
      print({ type: 'run.start', time: 0, agentId: 'a', runId: 'r' } as unknown as AgentEvent)
      print({
        type: 'run.end',
        time: ms,
        agentId: 'a',
        runId: 'r',
        stopReason: 'stop',
        turns: 1,
        usage,
        costUsd: 0,
      } as unknown as AgentEvent)
    }
    run(9_000)
    assert.is(rang(), 0)
    run(11_000)
    assert.is(rang(), 1)
  })

  for (const [args, count] of [
    [[], 1],
    [['--no-bell'], 0],
  ] as const)
    it(`rings ${count} times for a call that waits already, with ${args.join(' ') || 'no option'}`, async (context) => {
      const { definition } = helpfulAgent()
      const { runtime, server } = await serveAgents(context, [definition])
      const agent = await runtime.spawn(definition, { id: 'a1' })
      const asked = new Promise<void>((resolve) =>
        agent.subscribe((event) => event.type === 'approval.requested' && resolve()),
      )
      void agent.prompt('wipe')
      await asked
      const cli = startCli(context, ['attach', server.url, 'a1', ...args], { isTerminal: true })
      await cli.until('allow it?')
      assert.is(cli.raw.split('\u0007').length - 1, count)
    })
})

describe('a question that comes while a person types', (it) => {
  it('is not answered by the rest of what is typed', async () => {
    const { clock, send, ask, lines, answers } = openScreen()
    await send('look at the ')
    ask()
    await clock.advance(900)
    await send('tool\r')
    assert.equal([lines, answers], [['look at the tool'], []])
    await send('and ')
    await clock.advance(900)
    await send('stay')
    await clock.advance(999)
    await send('\r')
    assert.equal([lines, answers], [['look at the tool', 'and stay'], []])
    // After a pause it is asked; what was begun is put aside.
    await send('half')
    await clock.advance(1_000)
    await send('y\r')
    assert.equal([lines.length, answers], [2, ['y']])
    await send(' a thought\r')
    assert.is(lines.at(-1), 'half a thought')
  })

  it('is answered at once where nothing is typed, and withdrawn before it is open', async () => {
    const { screen, clock, send, ask, lines, answers } = openScreen()
    await send('a\r')
    ask()
    await send('n\r')
    assert.equal([lines, answers], [['a'], ['n']])
    await send('more')
    const stop = new AbortController()
    const asked = screen.ask('allow it? ', stop.signal)
    stop.abort(new Error('somebody else has'))
    assert.is(await asked, undefined)
    await clock.advance(5_000)
    await send('\r')
    assert.is(lines.at(-1), 'more')
  })

  it('is answered by nothing that was typed for one that was withdrawn, nor is that sent', async () => {
    const { screen, send, ask, lines, answers } = openScreen()
    const stop = new AbortController()
    void screen.ask('allow the first? ', stop.signal)
    await send('y')
    stop.abort(new Error('somebody else has'))
    ask()
    await send('\r')
    assert.equal([lines, answers], [[], ['']])
  })
})

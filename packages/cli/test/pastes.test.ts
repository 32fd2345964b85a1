import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { CliHost } from '../src/cliHost.ts'
import { LiveScreen } from '../src/terminal/liveScreen.ts'
import { Pastes } from '../src/terminal/input/pastes.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { helpfulAgent } from './cliAgents.ts'
import { projectFolder } from './cliChild.ts'
import { startCli } from './cliInProcess.ts'

const begins = '\u001B[200~'
const ends = '\u001B[201~'
const pasted = (text: string): string => `${begins}${text}${ends}`

/** A screen that takes lines. */
function openScreen(env: NodeJS.ProcessEnv = {}) {
  const [stdin, stdout] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 80 })]
  const signals = new EventEmitter()
  const host = { stdin, stdout, env, on: signals.on.bind(signals), off: signals.off.bind(signals) }
  const screen = new LiveScreen(host as unknown as CliHost)
  const lines: string[] = []
  const ignore = (): void => {}
  screen.open({ prompt: '› ', onLine: (line) => void lines.push(line), onInterrupt: ignore, onEnd: ignore })
  return { screen, stdin, signals, lines, drawn: () => String(stdout.read() ?? '') }
}

/** How the marking of pastes was switched. */
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const modes = (drawn: string): string[] => [...drawn.matchAll(/\u001B\[\?2004([hl])/g)].map(([, mode]) => mode!)

/** A chat with an agent, which says what it is told. */
async function chat(context: CaseContext, env: NodeJS.ProcessEnv = {}) {
  const { definition } = helpfulAgent()
  const { runtime, server } = await serveAgents(context, [definition])
  const agent = await runtime.spawn(definition, { id: 'a1' })
  const heard: string[] = []
  agent.subscribe((event) => {
    if (event.type === 'message.added')
      heard.push(...event.message.content.map((block) => ('text' in block ? block.text : '')))
  })
  const cli = startCli(context, ['attach', server.url, 'a1'], { isTerminal: true, env })
  await cli.until('› ')
  return { cli, heard, agent }
}

describe('a paste at a terminal', (it) => {
  it('is one message, however many lines it has, once Enter is pressed', async (context) => {
    const { cli, heard } = await chat(context)
    cli.send(`see: ${pasted('one\r\ttwo\rthree\r')}`)
    await cli.until('› see: [pasted 3 lines]')
    cli.send(' thanks\r')
    await cli.until('› see: one\n      two\n  three thanks')
    await cli.until('✓ done')
    assert.equal(heard, ['see: one\n\ttwo\nthree thanks'])
  })

  it('names no file, be it a line or many; what is typed beside it does', { timeoutMs: 10_000 }, async (context) => {
    const { definition } = helpfulAgent()
    const { runtime, server } = await serveAgents(context, [definition])
    await runtime.spawn(definition, { id: 'a1' })
    const cwd = projectFolder(context, { 'key.pem': 'secret', 'a.txt': 'letter', '.escapement/.keep': '' })
    const start = async () => {
      const cli = startCli(context, ['attach', server.url, 'a1'], { isTerminal: true, cwd })
      await cli.until('› ')
      return cli
    }
    const cli = await start()
    cli.send(`${pasted('see @key.pem')}\r`)
    await cli.until('You said: see @key.pem')
    await cli.until('✓ done')
    cli.send(`${pasted('one\n@key.pem')} and @a.txt\r`)
    await cli.until('(with a.txt · 1 line, read on this machine)')
    await cli.until('letter')
    await cli.until('✓ done')
    // Had again in this run, and in the next.
    cli.send('\u001B[A\u001B[A\r')
    await cli.until('You said: see @key.pem')
    await cli.until('✓ done')
    cli.send('\u0004')
    assert.is(await cli.ended, 0)
    const next = await start()
    next.send('\u001B[A')
    await next.until('› see @key.pem')
    next.send('\r')
    await next.until('You said: see @key.pem')
    await next.until('✓ done')
    for (const { stdout } of [cli, next]) assert.not.match(stdout, /secret|with key/)
  })

  it('is found by a search of it, pasted too', async (context) => {
    const { cli, heard } = await chat(context)
    cli.send(`${pasted('mail a@b.test')}\r`)
    await cli.until('✓ done')
    cli.send(`\u0012${pasted('a@b')}`)
    await cli.until('search "a@b": mail a@b.test')
    cli.send('\r\r')
    await cli.until('✓ done')
    assert.equal(heard, ['mail a@b.test', 'mail a@b.test'])
  })

  it('is one however the terminal cuts it up', async (context) => {
    const { cli, heard } = await chat(context)
    for (const key of `ab${pasted('one\ntwo')}c\r`.match(/.{1,2}/gs)!) cli.send(key)
    await cli.until('✓ done')
    assert.equal(heard, ['abone\ntwoc'])
  })

  it('of one line is typed text, without its line break', async (context) => {
    const { cli, heard } = await chat(context)
    cli.send(pasted('hello\r'))
    await cli.until('› hello')
    cli.send('\u007F\r')
    await cli.until('✓ done')
    assert.equal(heard, ['hell'])
  })

  it('goes away with one key, and comes back with what was said before', async (context) => {
    const { cli, heard } = await chat(context)
    cli.send(`${pasted('one\ntwo')}\u007Fhello\r`)
    await cli.until('✓ done')
    cli.send(`${pasted('three\nfour')}\r`)
    await cli.until('✓ done')
    cli.send('\u001B[A\r')
    await cli.until('✓ done')
    assert.equal(heard, ['hello', 'three\nfour', 'three\nfour'])
  })

  it('answers no question by its first line', async (context) => {
    const { cli, heard, agent } = await chat(context)
    cli.send('wipe\r')
    await cli.until('allow it?')
    cli.send(pasted('y\ry\r'))
    await cli.until('[pasted 2 lines]')
    assert.is(agent.approvals().length, 1)
    cli.send('\r')
    await cli.until('type y, a, t or n')
    assert.is(agent.approvals().length, 1)
    cli.send('n\r')
    await cli.until('✓ done')
    assert.equal(heard, ['wipe'])
  })

  it('of megabytes is told by its size, drawn no more than that, and sent whole', () => {
    const { screen, stdin, drawn, lines, signals } = openScreen()
    const text = 'a line of some length\n'.repeat(200_000)
    stdin.emit('data', begins)
    for (let at = 0; at < text.length; at += 4_096) stdin.emit('data', text.slice(at, at + 4_096))
    stdin.emit('data', ends)
    stdin.emit('data', ' there\r')
    screen.close()
    assert.equal(lines, [`${text.trimEnd()} there`])
    const shown = drawn()
    assert.match(shown, /› \[pasted 200,000 lines\] there\n/)
    assert.ok(shown.length < 2_000, `${shown.length} characters were drawn`)
    assert.is(signals.listenerCount('exit'), 0)
  })

  it('is marked by the terminal while a line is typed, and no longer', () => {
    const { screen, stdin, drawn, signals } = openScreen()
    assert.equal(modes(drawn()), ['h'])
    // Ctrl-Z: the shell is next.
    const kill = process.kill
    try {
      process.kill = () => true
      stdin.emit('data', '\u001A')
      assert.equal(modes(drawn()), ['l'])
      process.emit('SIGCONT')
      assert.equal(modes(drawn()), ['h'])
    } finally {
      process.kill = kill
    }
    signals.emit('exit')
    assert.equal(modes(drawn()), ['l'])
    screen.close()
    assert.equal([modes(drawn()), signals.listenerCount('exit')], [['l'], 0])
    const dumb = openScreen({ TERM: 'dumb' })
    dumb.screen.close()
    assert.equal(modes(dumb.drawn()), [])
  })

  it('is of no harm by its control characters', async (context) => {
    const { cli, heard } = await chat(context)
    cli.send(`${pasted('a\u0003b\u0004\u001B[2Jc\u001B]0;x\u0007\u009Bd\u007F')}\r`)
    await cli.until('✓ done')
    assert.equal(heard, ['abc]0;xd'])
  })

  it('that never ends is given up at Ctrl-C', async (context) => {
    const { cli, heard } = await chat(context)
    cli.send(`${begins}never\rended`)
    cli.send('\u0003')
    assert.is(await cli.ended, 0)
    assert.equal(heard, [])
  })
})

describe('pastes in a line', (it) => {
  it('are left on the screen in full while they are short, and by their size otherwise', () => {
    const echoOf = (text: string): string => {
      const pastes = new Pastes()
      return pastes.echo(`see ${pastes.take(text)}`)
    }
    const rows = (count: number): string => Array.from({ length: count }, (_, at) => `row ${at}`).join('\n')
    assert.is(echoOf(rows(8)), `see ${rows(8).replaceAll('\n', '\n  ')}`)
    assert.is(echoOf(rows(9)), 'see [pasted 9 lines]')
    assert.is(echoOf(`${'x'.repeat(2_000)}\ny`), 'see [pasted 2 lines]')
  })

  it('stand for nothing that was not pasted', () => {
    const pastes = new Pastes()
    const mark = pastes.take('a\nb')
    const typed = `${mark}\u{F0001}\uE000`
    assert.is(pastes.expand(typed), 'a\nb\u{F0001}\uE000')
    assert.is(pastes.expand(pastes.take(pastes.expand(typed))), 'a\nb\u{F0001}\uE000')
  })

  it('count characters where there is one long line', () => {
    const pastes = new Pastes()
    assert.is(pastes.abridge(pastes.take('x'.repeat(1_001))), '[pasted 1,001 characters]')
    assert.is(pastes.take('x'.repeat(1_000)).length, 1_000)
  })
})

import { LiveScreen } from '../src/terminal/liveScreen.ts'
import { withoutControls } from '../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../charts/src/textWidth.ts'
import type { CliHost } from '../src/cliHost.ts'
import { lineDiff } from '../src/demo/workshop.ts'
import { runChatLine } from '../src/chat/runChatLine.ts'
import { readChatLine, type AgentLine } from '../src/chat/slashCommands.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { coloursFor } from '../src/terminal/colours.ts'
import { eventPrinter } from '../src/terminal/eventPrinter.ts'
import { plainScreen } from '../src/terminal/screen.ts'
import { calls, never, startAgent, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('the live screen', (it) => {
  it('keeps status below text that is not complete, and lets the terminal wrap', () => {
    const { host, output } = fakeTerminal(10)
    const screen = new LiveScreen(host)
    screen.write('abc')
    screen.setStatus('busy')
    screen.write('defghijKL')
    assert.is(output().at(-1), '\u001B[1A\r\u001B[JabcdefghijKL\nbusy')
    screen.setStatus(undefined)
    assert.is(output().at(-1), '\u001B[1A\r\u001B[JKL')
    screen.close()
    assert.is(output().at(-1), '\n')
  })

  it('measures wide letters, joined letters and colours', () => {
    assert.equal(['abc', '日本', 'e\u0301', '\u001B[2mdim\u001B[22m', '👩‍💻'].map(textWidth), [3, 4, 1, 3, 2])
    assert.is(fitted('status line', 6), 'statu…')
    assert.is(fitted('short', 6), 'short')
  })

  it('lets no control character of a model through', () => {
    assert.is(withoutControls('a\u001B[31mb\u0007c\rd\ne\u009B'), 'abcd\ne')
    assert.is(withoutControls('rm \u202Ea\u2066b\u2069'), 'rm ab')
  })
})

describe('what a chat line asks for', (it) => {
  it('knows its commands, names unknown ones and takes a path for text', () => {
    assert.equal(
      ['/quit', ' ', '/nope', '/some/file is broken'].map((line) => readChatLine(line).type),
      ['quit', 'nothing', 'print', 'say'],
    )
  })

  it('reads what a person would have hidden, kept or summarised', () => {
    assert.equal(readChatLine('/prune n4 n9, looked twice'), {
      type: 'prune',
      steps: ['n4', 'n9'],
      memo: 'looked twice',
    })
    assert.equal(readChatLine('/prune 5000'), { type: 'prune', tokens: 5_000 })
    assert.equal(readChatLine('/prune n4'), { type: 'prune', steps: ['n4'] })
    const back = { type: 'revert', step: 'n4', category: 'failure' }
    assert.equal(readChatLine('/revert n4'), back)
    assert.equal(readChatLine('/revert n4 --undo'), { ...back, undo: true })
    assert.equal(readChatLine('/revert n4 --undo too slow'), { ...back, summary: 'too slow', undo: true })
    assert.equal(readChatLine('/compact the port numbers'), { type: 'compact', focus: 'the port numbers' })
    assert.equal(readChatLine('/compact'), { type: 'compact' })
    assert.equal(readChatLine('/pin n12'), { type: 'pin', step: 'n12' })
    assert.equal(readChatLine('/use model smart'), { type: 'use', use: { model: 'smart' } })
    assert.equal(readChatLine('/use tools a, b'), { type: 'use', use: { tools: ['a', 'b'] } })
    assert.equal(readChatLine('/use instructions be kind'), { type: 'use', use: { instructions: 'be kind' } })
    assert.equal(readChatLine('/use tools'), { type: 'use', use: { tools: null } })
    assert.equal(readChatLine('/use reset'), { type: 'use', use: null })
    assert.is(readChatLine('/use everything').type, 'print')
    assert.equal(readChatLine('/unpin n12'), { type: 'unpin', step: 'n12' })
    assert.equal(readChatLine('/graft n12, n13'), { type: 'graft', steps: ['n12', 'n13'] })
    assert.equal(readChatLine('/mask n4 n9'), { type: 'prune', steps: ['n4', 'n9'], mask: true })
    assert.equal(readChatLine('/show n4, n9'), { type: 'prune', steps: ['n4', 'n9'], show: true })
    assert.equal(readChatLine('/fold'), { type: 'fold' })
    assert.equal(readChatLine('/mask 5000'), { type: 'prune', tokens: 5_000, mask: true })
    for (const line of [
      '/prune',
      '/prune the old ones',
      '/mask',
      '/show',
      '/show 5000',
      '/show n4 because',
      '/mask n4 because',
      '/use',
      '/pin',
      '/unpin',
      '/graft',
      '/steer',
      '/revert',
      '/revert back',
    ])
      assert.match((readChatLine(line) as { text?: string }).text ?? '', /^ {2}\/\w+ needs \w/, line)
  })

  it('asks for a fold, and says what came of it', async (context) => {
    const said: string[] = []
    const { agent, ofType } = await startAgent(context, {
      braking: { fold: true },
      replies: ['done'],
    })
    await agent.prompt('go').result
    const screen = plainScreen({ write: (text) => said.push(text) })
    agent.subscribe(eventPrinter({ screen, colours: coloursFor({ isTTY: false }, {}), isPriced: false }))
    const { decided } = await runChatLine(agent, { type: 'fold' }, aboutAgent(agent))
    await decided
    assert.is(ofType('prune.applied').length, 1)
    assert.match(said.join(''), /fold refused: there is no step/)
  })

  it('tells what was brought back, and what was not', async (context) => {
    const said: string[] = []
    const { agent, until } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen', { effects: 'none' })],
      replies: [calls('a', 'look'), 'done'],
    })
    const screen = plainScreen({ write: (text) => said.push(text) })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'failure', summary: 'no' })
    await until(({ type }) => type === 'revert.applied')
    agent.subscribe(eventPrinter({ screen, colours: coloursFor({ isTTY: false }, {}), isPriced: false }))
    await (
      await runChatLine(agent, readChatLine('/graft n2 n4 n1') as AgentLine, aboutAgent(agent))
    ).decided
    assert.equal(said.length, 2)
    assert.match(said[0]!, /^ {2}brought back: n2–n4 as n5–n7 · adds \d+ tokens$/m)
    assert.match(said[1]!, /^ {2}graft refused: n1 is a message of the user/)
  })

  it('tells what came of it: at rest once it is decided, at work in a note', async (context) => {
    const said: string[] = []
    const { agent, untilState } = await startAgent(context, {
      braking: { prune: true },
      tools: [tool('look', () => 'seen', { effects: 'none' }), tool('slow', () => never)],
      replies: [calls('a', 'look'), 'done', calls('b', 'slow')],
    })
    const screen = plainScreen({ write: (text) => said.push(text) })
    agent.subscribe(eventPrinter({ screen, colours: coloursFor({ isTTY: false }, {}), isPriced: false }))
    await agent.prompt('go').result
    said.length = 0
    for (const line of ['/pin n1', '/prune n3', '/pin n3', '/prune n1', '/compact', '/unpin n1'])
      await (
        await runChatLine(agent, readChatLine(line) as AgentLine, aboutAgent(agent))
      ).decided
    const expected = [
      /^n1 pinned$/,
      /^hidden: 1 step/,
      /^pin refused: n3 is hidden/,
      /^prune refused: n1 is a user message/,
      /^not compacted: /,
      /^n1 unpinned$/,
    ]
    assert.is(said.length, expected.length)
    for (const [at, pattern] of expected.entries()) assert.match(said[at]!.trim(), pattern)
    void agent.prompt('more')
    await untilState('executing')
    assert.match(
      (await runChatLine(agent, { type: 'pin', step: 'n1' }, aboutAgent(agent))).note ?? '',
      /before the next step/,
    )
    agent.abort()
  })
})

describe('the line diff', (it) => {
  it('marks what changed with two lines around', () => {
    assert.is(lineDiff('a\nb\nc\nd\ne\nf', 'a\nb\nc\nD\ne\nf'), ' b\n c\n-d\n+D\n e\n f')
    assert.is(lineDiff('a\nb', 'a\nb'), '')
  })
})

const aboutAgent = (agent: Agent) => ({
  has: () => true,
  conversation: () => Promise.resolve(agent.conversation),
  spent: () => Promise.resolve(agent.spent),
})

function fakeTerminal(columns: number): { host: CliHost; output: () => readonly string[] } {
  const written: string[] = []
  const stdout = {
    columns,
    isTTY: true,
    write: (text: string) => written.push(text),
    on: () => stdout,
    off: () => stdout,
  }
  const stdin = { isTTY: true, off: () => stdin, pause: () => stdin }
  return { host: { stdout, stdin } as unknown as CliHost, output: () => written }
}

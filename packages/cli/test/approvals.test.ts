import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { readAnswer } from '../src/chat/approvals.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { startCli } from './cliInProcess.ts'

const up = '\u001B[A'
const down = '\u001B[B'

/** A chat with an agent that makes the calls it is told as JSON, `[[name, input], …]`, one after the other. */
async function chat(context: CaseContext, options: readonly string[] = []) {
  const ran: string[] = []
  const held = (name: string) =>
    tool(name, (input) => void ran.push(`${name} ${JSON.stringify(input)}`), { needsApproval: true })
  const definition = defineAgent({
    name: 'caller',
    model: policyModel(({ messages }) => {
      const said = messages.findLastIndex(({ role }) => role === 'user')
      const asked = JSON.parse(textOf(messages[said]!.content)) as readonly [string, object][]
      const next = asked[messages.slice(said).filter(({ role }) => role === 'toolResult').length]
      const last = textOf(messages.at(-1)!.content)
      return next === undefined ? `Then: ${last}.` : { toolCalls: [{ name: next[0], input: next[1] }] }
    }),
    tools: [held('peek'), held('erase'), held('run_command'), held('edit_file')],
  })
  const { runtime, server } = await serveAgents(context, [definition])
  await runtime.spawn(definition, { id: 'a1' })
  const cli = startCli(context, ['attach', server.url, 'a1', ...options], { isTerminal: true })
  await cli.until('› ')
  const say = (...calls: readonly (readonly [string, object])[]): void => cli.send(`${JSON.stringify(calls)}\r`)
  return { cli, ran, say }
}

describe('an answer to a question', (it) => {
  for (const [said, meant] of [
    ['y', { decision: 'approve' }],
    [' Yes ', { decision: 'approve' }],
    ['a', { decision: 'approve', forAll: 'call' }],
    ['Always', { decision: 'approve', forAll: 'call' }],
    ['t', { decision: 'approve', forAll: 'tool' }],
    ['n', { decision: 'deny' }],
    ['No.', { decision: 'deny' }],
    ['n because it is Friday', { decision: 'deny', reason: 'because it is Friday' }],
    ['no, use npm', { decision: 'deny', reason: 'use npm' }],
    ['n first\nsecond', { decision: 'deny', reason: 'first\nsecond' }],
  ] as const)
    it(`is understood: ${JSON.stringify(said)}`, () => assert.equal(readAnswer(said), meant))

  for (const said of [
    '',
    ' ',
    'maybe',
    'k',
    'yy',
    'ok',
    'none',
    'yes please',
    'y\nrm -rf /',
    'all',
    'this',
    'v',
    'use npm',
  ])
    it(`is none: ${JSON.stringify(said)}`, () => assert.is(readAnswer(said), undefined))
})

describe('approvals at a terminal', (it) => {
  it('asks again until the answer is one, and decides nothing before', async (context) => {
    const { cli, ran, say } = await chat(context)
    say(['peek', { path: 'a' }])
    await cli.until('? peek: a\n')
    for (const said of ['maybe', '', 'yes please']) {
      await cli.until('allow it?')
      cli.send(`${said}\r`)
      await cli.until('type y, a, t or n')
    }
    assert.equal(ran, [])
    await cli.until('allow it?')
    cli.send('n not now\r')
    await cli.until('Reason: not now')
    assert.equal(ran, [])
  })

  it('takes "always" for the same tool with the same input, and for nothing else', async (context) => {
    const { cli, ran, say } = await chat(context)
    say(
      ['peek', { path: 'x', depth: { of: 1, to: 2 } }],
      ['peek', { depth: { to: 2, of: 1 }, path: 'x' }],
      ['erase', { path: 'x', depth: { of: 1, to: 2 } }],
      ['peek', { path: 'x', depth: { of: 1, to: 3 } }],
    )
    await cli.until('allow it?')
    cli.send('a\r')
    await cli.until('? erase: ')
    assert.equal(ran, ['peek {"path":"x","depth":{"of":1,"to":2}}', 'peek {"depth":{"to":2,"of":1},"path":"x"}'])
    await cli.until('allow it?')
    cli.send('n\r')
    await cli.until('? peek: {"path":"x","depth":{"of":1,"to":3}}')
    await cli.until('allow it?')
    cli.send('n\r')
    await cli.until('Then: ')
    assert.is(ran.length, 2)
  })

  it('shows all that a command is given, and allows it with nothing more', async (context) => {
    const { cli, ran, say } = await chat(context)
    say(
      ['run_command', { command: 'ls' }],
      ['run_command', { command: 'ls', cwd: '/' }],
      ['run_command', { command: 'ls' }],
    )
    await cli.until('? run_command: ls\n')
    await cli.until('allow it?')
    cli.send('a\r')
    await cli.until('? run_command: ls {"cwd":"/"}\n')
    await cli.until('allow it?')
    cli.send('n\r')
    await cli.until('Then: ')
    assert.equal(ran, ['run_command {"command":"ls"}', 'run_command {"command":"ls"}'])
  })

  it('marks every line of a command as a part of it, and takes yes only once all was shown', async (context) => {
    const { cli, ran, say } = await chat(context)
    const forged = `echo OWNED > owned.txt${'\n'.repeat(45)}  ? read_file: {"path":"README.md"}\u202E`
    say(
      ['run_command', { command: forged }],
      ['run_command', { command: Array.from({ length: 60 }, (_, i) => `rm ${i}`).join('\n') }],
    )
    await cli.until(
      '? run_command:\n    command: text of 46 lines, 103 characters\n    │ echo OWNED > owned.txt\n    │ ⟨44 empty lines⟩\n    │   ? read_file: {"path":"README.md"}⟨U+202E⟩\n',
    )
    await cli.until('allow it?')
    cli.send('n\r')
    await cli.until('    │ rm 38\n    … 21 more lines\n')
    await cli.until('allow it?')
    cli.send('y\r')
    await cli.until('the call was cut off')
    await cli.until('    │ rm 59\n')
    assert.equal(ran, [])
    await cli.until('allow it?')
    cli.send('y\r')
    await cli.until('Then: ')
    assert.is(ran.length, 1)
  })

  it('takes a tool as allowed until the run ends, and asks again in the next', async (context) => {
    const { cli, ran, say } = await chat(context)
    say(['peek', { path: 'a' }], ['peek', { path: 'b' }], ['erase', { path: 'a' }])
    await cli.until('allow it?')
    cli.send('t\r')
    await cli.until('? erase: ')
    assert.equal(ran, ['peek {"path":"a"}', 'peek {"path":"b"}'])
    await cli.until('allow it?')
    cli.send('n\r')
    await cli.until('✓ done')
    say(['peek', { path: 'a' }])
    await cli.until('? peek: a\n')
    await cli.until('allow it?')
    cli.send('n\r')
    await cli.until('✓ done')
    assert.is(ran.length, 2)
  })

  it('shows an edit as what it changes and what else it is given, and is decided with the arrows', async (context) => {
    const { cli, ran, say } = await chat(context)
    const edit = { path: 'a.ts', oldText: 'let a = 1\nlet b', newText: 'let a = 2\nlet b', replaceAll: true }
    say(['edit_file', edit])
    await cli.until('? edit_file: a.ts {"replaceAll":true} · +1 −1\n    - let a = 1\n    + let a = 2\n      let b\n')
    await cli.until('y    yes')
    // Neither an Enter that was meant for something else nor a paste decides.
    cli.send('\r')
    await cli.until('type y, a, t or n')
    await cli.until('y    yes')
    cli.send(down)
    await cli.until('› y    yes')
    cli.send('\u001B[200~y\u001B[201~')
    await cli.until('allow it? y')
    assert.equal(ran, [])
    cli.send('\u007F')
    await cli.until('allow it? ')
    cli.send(`${down}${down}\r`)
    await cli.until('allow it? a')
    await cli.until('✓ edit_file a.ts')
    await cli.until('+1 −1')
    // It was shown before.
    assert.not.match(cli.stdout.slice(cli.stdout.lastIndexOf('✓ edit_file')), 'let a')
    assert.is(ran.length, 1)
  })

  it('shows a list of changes one by one, and a path as one types it', async (context) => {
    const { cli, say } = await chat(context)
    const edits = [
      { oldText: 'let a = 1', newText: 'let a = 2' },
      { oldText: 'end', newText: 'end()\n' },
    ]
    say(
      ['edit_file', { path: 'a.ts', edits: edits.slice(0, 1) }],
      ['edit_file', { path: 'b.ts', edits }],
      ['erase', { path: 'c.ts' }],
    )
    await cli.until('? edit_file: a.ts · +1 −1\n    - let a = 1\n    + let a = 2\n')
    await cli.until('y    yes')
    cli.send('y\r')
    await cli.until(
      '? edit_file: b.ts · +2 −2\n    - let a = 1\n    + let a = 2\n    …\n    - end\n    + end()\n    (change 2: what it puts there ends with a line break)\n',
    )
    await cli.until('y    yes')
    cli.send('y\r')
    await cli.until('? erase: c.ts\n')
  })

  it('shows all of a long change at a wish, and a reason begins in the line', async (context) => {
    const { cli, ran, say } = await chat(context)
    const lines = (letter: string): string => Array.from({ length: 60 }, (_, i) => `${letter}${i}`).join('\n')
    say(['edit_file', { path: 'a.ts', oldText: lines('a'), newText: lines('b') }])
    await cli.until('    - a39\n    … 80 more lines\n')
    await cli.until('v    view the full call')
    cli.send('v\r')
    await cli.until('    - a59\n    + b0\n')
    await cli.until('    + b59\n')
    await cli.until('n …')
    cli.send(`${up}${up}\r`)
    await cli.until('allow it? n ')
    cli.send('too much\r')
    await cli.until('Reason: too much')
    assert.equal(ran, [])
  })

  it('shows a change that was allowed beforehand once it is made, cut short', async (context) => {
    const { cli, say } = await chat(context, ['--yes'])
    const text = Array.from({ length: 20 }, (_, i) => `line ${i} ${'x'.repeat(90)}`).join('\n')
    say(['edit_file', { path: 'a.ts', oldText: '', newText: text }])
    await cli.until('· +20 −0')
    await cli.until(`    + line 11 ${'x'.repeat(64)}…\n    … 8 more lines\n`)
  })
})

import { defineAgent } from '../../src/actors/defineAgent.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { readAnswer } from '../../src/cli/approvals.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { serveAgents } from '../server/bridge/bridgeHarness.ts'
import { startCli } from './cliInProcess.ts'

/** A chat with an agent that makes the calls it is told as JSON, `[[name, input], …]`, one after the other. */
async function chat(context: CaseContext) {
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
    tools: [held('peek'), held('erase'), held('run_command')],
  })
  const { runtime, server } = await serveAgents(context, [definition])
  await runtime.spawn(definition, { id: 'a1' })
  const cli = startCli(context, ['attach', server.url, 'a1'], { isTerminal: true })
  await cli.until('› ')
  const say = (...calls: readonly (readonly [string, object])[]): void => cli.send(`${JSON.stringify(calls)}\r`)
  return { cli, ran, say }
}

describe('an answer to a question', (it) => {
  for (const [said, meant] of [
    ['y', { decision: 'approve' }],
    [' Yes ', { decision: 'approve' }],
    ['a', { decision: 'approve', isAlways: true }],
    ['Always', { decision: 'approve', isAlways: true }],
    ['n', { decision: 'deny' }],
    ['No.', { decision: 'deny' }],
    ['n because it is Friday', { decision: 'deny', reason: 'because it is Friday' }],
    ['no, use npm', { decision: 'deny', reason: 'use npm' }],
    ['n first\nsecond', { decision: 'deny', reason: 'first\nsecond' }],
  ] as const)
    it(`is understood: ${JSON.stringify(said)}`, () => assert.equal(readAnswer(said), meant))

  for (const said of ['', ' ', 'maybe', 'k', 'yy', 'ok', 'none', 'yes please', 'y\nrm -rf /', 'all', 'use npm'])
    it(`is none: ${JSON.stringify(said)}`, () => assert.is(readAnswer(said), undefined))
})

describe('approvals at a terminal', (it) => {
  it('asks again until the answer is one, and decides nothing before', async (context) => {
    const { cli, ran, say } = await chat(context)
    say(['peek', { path: 'a' }])
    await cli.until('? peek: {"path":"a"}')
    for (const said of ['maybe', '', 'yes please']) {
      await cli.until('allow it?')
      cli.send(`${said}\r`)
      await cli.until('neither yes nor no')
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
})

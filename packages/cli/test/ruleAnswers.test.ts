import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { readRuled } from '../src/chat/ruleAnswers.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { startCli } from './cliInProcess.ts'

const suggest = ['run_command(npm test)', 'run_command(npm test *)']

describe('an answer about a call that rules decide about', (it) => {
  for (const [said, meant] of [
    ['y', { decision: 'approve' }],
    [' Yes ', { decision: 'approve' }],
    ['a', { decision: 'approve' }],
    ['s', { decision: 'approve', grant: { rule: suggest[0], scope: 'session' } }],
    ['s2', { decision: 'approve', grant: { rule: suggest[1], scope: 'session' } }],
    ['A', { decision: 'approve', grant: { rule: suggest[0], scope: 'always' } }],
    ['A2', { decision: 'approve', grant: { rule: suggest[1], scope: 'always' } }],
    ['s run_command(npm *)', { decision: 'approve', grant: { rule: 'run_command(npm *)', scope: 'session' } }],
    ['d', { decision: 'deny' }],
    ['No.', { decision: 'deny' }],
    ['d use yarn', { decision: 'deny', reason: 'use yarn' }],
    ['n, use yarn', { decision: 'deny', reason: 'use yarn' }],
  ] as const)
    it(`is understood: ${JSON.stringify(said)}`, () => assert.equal(readRuled(said, suggest), meant))

  for (const said of ['', 'S', 's3', 's0', 'A9', 'always', 'yes please', 'y\nrm', 'done', 'v'])
    it(`is none: ${JSON.stringify(said)}`, () => assert.is(readRuled(said, suggest), undefined))
})

describe('rules at a terminal', (it) => {
  it('are added with an answer, asked again if they are refused, and hold for the session; the mode is changed', async (context) => {
    const ran: string[] = []
    const commands = ['npm test', 'npm test', 'npm publish']
    const definition = defineAgent({
      name: 'caller',
      model: policyModel(({ messages }) => {
        const command = commands[messages.filter(({ role }) => role === 'toolResult').length]
        return command === undefined ? 'Done.' : { toolCalls: [{ name: 'run_command', input: { command } }] }
      }),
      tools: [
        defineTool({
          name: 'run_command',
          description: 'Runs.',
          input: z.object({ command: z.string() }),
          subject: ({ command }) => ({ command }),
          needsApproval: true,
          run: ({ command }) => void ran.push(command),
        }),
      ],
      permissions: {},
    })
    const { runtime, server } = await serveAgents(context, [definition])
    const agent = await runtime.spawn(definition, { id: 'a1' })
    const cli = startCli(context, ['attach', server.url, 'a1'], { isTerminal: true })
    await cli.until('› ')
    cli.send('go\r')
    await cli.until('for this session: run_command(npm test)')
    await cli.until('always: run_command(npm test)')
    cli.send('A\r')
    await cli.until('has no store of rules')
    cli.send('s\r')
    await cli.until('npm publish')
    cli.send('d not yet\r')
    await cli.until('Done.')
    assert.equal(ran, ['npm test', 'npm test'])
    assert.equal(
      agent.permissions()!.grants.map(({ rule, scope }) => [rule, scope]),
      [['run_command(npm test)', 'session']],
    )
    cli.send('/mode plan\r')
    await cli.until('⇢ mode plan')
    assert.is(agent.permissions()!.mode, 'plan')
    cli.send('/mode all\r')
    await cli.until('/mode needs a mode: ask, edits, plan, auto, refuse')
  })
})

import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { calls, quiet, startAgent, tool, withCode, type HarnessOptions } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { deferred } from '../../src/index.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'

const ran: string[] = []

const shell = defineTool({
  name: 'run_command',
  description: 'Runs.',
  input: z.object({ command: z.string() }),
  subject: ({ command }) => ({ command }),
  run: ({ command }) => {
    ran.push(command)
    return `ran ${command}`
  },
})

const look = tool('look', () => 'seen', { effects: 'none' })
const put = tool('put', () => 'done', { effects: 'reversible', undo: () => {}, needsApproval: true })
const pay = tool('pay', () => 'paid', { needsApproval: true })

const line = (command: string) => ['run_command', { command }] as const

const start = (context: Pick<CaseContext, 'cleanup'>, options: HarnessOptions) => {
  ran.length = 0
  return startAgent(context, { tools: [shell, look, put, pay], ...options })
}

describe('rules for calls', (it) => {
  it('let calls run, have people asked or deny them, and say by which rule', async (context) => {
    const { agent, ofType, until } = await start(context, {
      replies: [calls('c', line('npm run x'), line('git push origin'), line('make')), 'done'],
      permissions: {
        deny: ['run_command(git push *)'],
        ask: ['run_command'],
        allow: ['run_command(npm run *)'],
      },
    })
    const run = agent.prompt('go')
    await until(({ type }) => type === 'approval.requested')
    const [asked] = ofType('approval.requested')
    assert.is(asked!.rule, 'run_command')
    assert.equal(asked!.suggest, ['run_command(make)', 'run_command(make *)', 'run_command'])
    agent.decide(asked!.key, 'approve')
    assert.is((await run.result).text, 'done')
    assert.equal(ran, ['npm run x', 'make'])
    assert.equal(
      ofType('tool.start').map(({ rule }) => rule),
      ['run_command(npm run *)', 'run_command'],
    )
    const texts = ofType('tool.end').map(({ message }) => message.content)
    assert.ok(JSON.stringify(texts).includes('Not run: the rule \\"run_command(git push *)\\" denies it.'))
  })

  it('follow the mode: plan, edits, auto, refuse', async (context) => {
    const seen: Record<string, readonly string[]> = {}
    for (const mode of ['plan', 'edits', 'auto', 'refuse'] as const) {
      const { agent, ofType } = await start(context, {
        replies: [calls('c', 'look', 'put', 'pay'), 'done'],
        permissions: { mode },
        id: mode,
      })
      const run = agent.prompt('go')
      await quiet()
      for (const { key } of ofType('approval.requested')) agent.decide(key, 'deny')
      await run.result
      seen[mode] = [
        ...ofType('tool.start').map(({ name }) => name),
        ...ofType('approval.requested').map(({ name }) => `ask ${name}`),
      ]
    }
    assert.equal(seen, {
      plan: ['look'],
      edits: ['look', 'put', 'ask pay'],
      auto: ['look', 'put', 'pay'],
      refuse: ['look'],
    })
  })

  it('judge the arguments that beforeTool gives, and hold before it', async (context) => {
    const asked: unknown[] = []
    const { agent, ofType } = await start(context, {
      replies: [calls('c', line('ls'), line('rm x')), 'done'],
      permissions: { deny: ['run_command(rm *)'] },
      beforeTool: ({ input }) => {
        asked.push(input)
        return { input: { command: 'rm y' } }
      },
    })
    await agent.prompt('go').result
    assert.equal(asked, [{ command: 'ls' }])
    assert.equal(ofType('tool.start'), [])
    assert.equal(ran, [])
  })

  it('hold for sub-agents, which can only be stricter', async (context) => {
    const helper = (name: string, permissions?: HarnessOptions['permissions']) =>
      defineAgent({
        name,
        description: 'Helps.',
        model: scriptedModel([calls(name, 'look', 'put', 'pay'), 'done']),
        tools: [look, put, pay],
        ...(permissions === undefined ? {} : { permissions }),
      })
    const { agent, store } = await start(context, {
      replies: [calls('c', ['plain', { task: 't' }], ['free', { task: 't' }], ['strict', { task: 't' }]), 'done'],
      agents: [helper('plain'), helper('free', { mode: 'auto' }), helper('strict', { deny: ['look'], mode: 'auto' })],
      permissions: { mode: 'plan' },
    })
    await agent.prompt('go').result
    const started: string[] = []
    for (const id of ['a1', 'a1.1', 'a1.2', 'a1.3'])
      for await (const record of store.read(id)) if (record.type === 'tool.start') started.push(`${id} ${record.name}`)
    assert.equal(started, ['a1 plain', 'a1 free', 'a1 strict', 'a1.1 look', 'a1.2 look'])
  })

  it('hold for tools that are found, by their own names', async (context) => {
    const { agent, ofType } = await start(context, {
      tools: [look, deferred([put])],
      permissions: { mode: 'plan' },
      replies: [
        calls('f', ['find_tools', { query: 'put' }]),
        calls('c', ['call_tool', { name: 'put', input: {} }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('tool.start').map(({ name }) => name),
      ['find_tools'],
    )
    assert.match(JSON.stringify(ofType('tool.end').at(-1)!.message), 'may change something, so it was not run')
  })

  it('send the same tools and instructions in every mode, and nothing at all where there are none', async (context) => {
    const requests = async (id: string, permissions: HarnessOptions['permissions']): Promise<string> => {
      const { agent, script } = await start(context, {
        id,
        replies: [calls('c', 'look'), 'done'],
        permissions: permissions as never,
      })
      await agent.prompt('go').result
      return JSON.stringify(script.requests)
    }
    const ask = await requests('a2', {})
    assert.is(await requests('a3', { mode: 'plan' }), ask)
    const plain = await requests('a4', undefined)
    assert.match(ask, 'exit_plan')
    assert.not.match(plain, /exit_plan|ermission/)
  })

  it('are asked again when the mode was changed while a hook decided', async (context) => {
    const { agent, ofType } = await start(context, {
      permissions: { mode: 'auto' },
      replies: [calls('c', 'pay'), 'done'],
      beforeTool: async () => {
        await quiet()
        agent.setMode('plan')
      },
    })
    await agent.prompt('go').result
    assert.equal(ofType('tool.start'), [])
  })

  it('are refused when they are malformed or about nothing', () => {
    const define = (permissions: HarnessOptions['permissions']) => () =>
      defineAgent({ name: 'a', model: scriptedModel([]), tools: [shell, pay], permissions: permissions! })
    assert.throws(define({ deny: ['a b'] }), withCode('INVALID_DEFINITION', 'permissions: deny: "a b" is no rule'))
    assert.throws(define({ allow: ['run_comand'] }), withCode('INVALID_DEFINITION', 'did you mean "run_command"?'))
    assert.throws(define({ ask: ['pay(x)'] }), withCode('INVALID_DEFINITION', '"pay" has no subject'))
    assert.throws(define({ mode: 'all' as 'auto' }), withCode('INVALID_DEFINITION', 'permissions.mode'))
    define({ deny: ['github_*', { tool: 'pay', when: () => true }] })()
  })
})

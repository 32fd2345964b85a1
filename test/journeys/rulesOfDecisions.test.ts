import { z } from 'zod'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { readAll } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { serveChats, settled } from '../../packages/ai-sdk/test/chatHarness.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { RuleStore, StoredRule } from '../../src/protocol/ports/ruleStore.ts'
import { hostOf } from '../../src/runtime/agents/agentFacts.ts'
import { permissionsOf } from '../../src/runtime/agents/permissions.ts'
import { calls, startAgent, tool, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { lateStore } from '../support/lateStore.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const shell = defineTool({
  name: 'run_command',
  description: 'Runs.',
  input: z.object({ command: z.string() }),
  subject: ({ command }) => ({ command }),
  needsApproval: true,
  run: ({ command }) => `ran ${command}`,
})
const look = tool('look', () => 'seen', { effects: 'none' })
const tools = [shell, look]

const line = (command: string) => ['run_command', { command }] as const

const start = (context: Pick<CaseContext, 'cleanup'>, options: HarnessOptions): Promise<Harness> =>
  startAgent(context, { tools, permissions: {}, toolExecution: 'sequential', ...options })

const started = ({ ofType }: Harness): readonly (string | undefined)[] => ofType('tool.start').map(({ rule }) => rule)

/** A store of rules in memory, which fails while `isBroken`. */
function rulesInMemory(): RuleStore & { all: StoredRule[]; isBroken: boolean } {
  const same = (a: StoredRule, b: StoredRule): boolean => a.rule === b.rule && a.decision === b.decision
  const store = {
    all: [] as StoredRule[],
    isBroken: false,
    check() {
      if (store.isBroken) throw new Error('the disk is full')
    },
    async read() {
      store.check()
      return store.all
    },
    async add(_: string, rule: StoredRule) {
      store.check()
      if (!store.all.some((one) => same(one, rule))) store.all = [...store.all, rule]
    },
    async remove(_: string, rule: StoredRule) {
      store.check()
      store.all = store.all.filter((one) => !same(one, rule))
    },
  }
  return store
}

describe('a rule that is added with a decision about a call of a sub-agent', (it) => {
  const helper = (permissions?: object) =>
    defineAgent({
      name: 'helper',
      description: 'Helps.',
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'toolResult' ? 'helped' : { toolCalls: [make()] },
      ),
      tools,
      ...(permissions === undefined ? {} : { permissions }),
    })
  const make = () => ({ name: 'run_command', input: { command: 'make' } })
  const help = ['helper', { task: 't' }] as const

  /** A root whose helpers make things, one after another, and which then does so itself. */
  const family = (
    context: CaseContext,
    { root, below, ...more }: { readonly root?: object; readonly below?: object; readonly store?: Store } = {},
  ) =>
    startAgent(context, {
      tools,
      ...more,
      ...(root === undefined ? {} : { permissions: root }),
      agents: [helper(below)],
      toolExecution: 'sequential',
      replies: [calls('a', help, help), calls('b', line('make')), 'done'],
    })
  const keyIn = async ({ agent, until }: Harness, wait = () => agent.pending().length > 0): Promise<string> => {
    await until(wait)
    return agent.pending()[0]!.key
  }
  const startsOf = async (store: Store, id: string): Promise<unknown[]> =>
    (await readAll(store, id)).flatMap((record) => (record.type === 'tool.start' ? [record.rule] : []))

  it('holds for its siblings and for the agent above, in the log of the agent that was asked', async (context) => {
    const harness = await family(context, { root: {} })
    const { agent, ofType, store } = harness
    const run = agent.prompt('go')
    agent.decide(await keyIn(harness), 'approve', { grant: { rule: 'run_command(make)', scope: 'session' } })
    await run.result
    const [granted, ...more] = ofType('permission.granted')
    assert.equal([more, granted!.agentId, granted!.by, granted!.decision], [[], 'a1', 'person', 'allow'])
    assert.equal(await startsOf(store, 'a1.2'), ['run_command(make)'], 'the second one was not asked about')
    assert.equal(started(harness).at(-1), 'run_command(make)')
    const log = await readAll(store, 'a1.1')
    assert.not.match(JSON.stringify(log.filter(({ type }) => type === 'approval.decided')), /grant/)
    const { id } = agent.permissions()!.grants[0]!
    agent.revoke(id)
    assert.equal(agent.permissions()!.grants, [])
  })

  it('always, is kept in the store of the topmost agent that has one', async (context) => {
    const rules = rulesInMemory()
    const harness = await family(context, { root: { store: rules } })
    const run = harness.agent.prompt('go')
    harness.agent.decide(await keyIn(harness), 'approve', { grant: { rule: 'run_command(make)', scope: 'always' } })
    await run.result
    assert.equal(rules.all, [{ rule: 'run_command(make)', decision: 'allow' }])
    assert.equal(
      harness.ofType('permission.granted').map(({ id, by }) => [id, by]),
      [
        ['always/allow/run_command(make)', 'person'],
        ['always/allow/run_command(make)', 'store'],
      ],
    )
  })

  it('denies, too', async (context) => {
    const harness = await family(context, { root: {} })
    const { agent, store } = harness
    const run = agent.prompt('go')
    agent.decide(await keyIn(harness), 'deny', { grant: { rule: 'run_command(make)', scope: 'session' } })
    await run.result
    assert.equal(
      [await startsOf(store, 'a1.1'), await startsOf(store, 'a1.2'), started(harness).slice(2)],
      [[], [], []],
    )
  })

  it('ends the wait of the call at once, though it is still being written', async (context) => {
    const harness = await family(context, { root: {}, store: lateStore() })
    const { agent } = harness
    const run = agent.prompt('go')
    agent.decide(await keyIn(harness), 'approve', { grant: { rule: 'run_command(make)', scope: 'session' } })
    assert.equal(agent.pending(), [])
    await run.result
  })

  it('stays below where nothing above has rules', async (context) => {
    const harness = await family(context, { below: {} })
    const { agent, store, ofType, until } = harness
    const run = agent.prompt('go')
    const first = await keyIn(harness)
    agent.decide(first, 'approve', { grant: { rule: 'run_command(make)', scope: 'session' } })
    await until(() => agent.pending().some(({ key }) => key !== first))
    agent.decide(agent.pending()[0]!.key, 'approve')
    await until(() => agent.pending().some(({ agentId }) => agentId === 'a1'))
    agent.decide(agent.pending()[0]!.key, 'approve')
    await run.result
    assert.equal(ofType('permission.granted'), [])
    assert.match(
      JSON.stringify((await readAll(store, 'a1.1')).filter(({ type }) => type === 'approval.decided')),
      /grant/,
    )
  })

  it('is made part of the rules once, and not for each call that asks', async (context) => {
    const { agent } = await start(context, { replies: ['done'] })
    const host = hostOf(agent)
    const before = permissionsOf(host)
    assert.is(permissionsOf(host), before)
    await agent.prompt('go').result
    assert.is(permissionsOf(host), before)
    agent.permit('run_command(make)', { for: 'session' })
    assert.is.not(permissionsOf(host), before)
    assert.is(permissionsOf(host)!.granted.length, 1)
  })

  it('that is given to the sub-agent itself stays its own', async (context) => {
    const harness = await family(context, { root: {} })
    const { agent, runtime, ofType, until } = harness
    const run = agent.prompt('go')
    const key = await keyIn(harness)
    runtime.agent('a1.1')!.decide(key, 'approve', { grant: { rule: 'run_command(make)', scope: 'session' } })
    await until(() => agent.pending().some((one) => one.key !== key))
    assert.equal(ofType('permission.granted'), [])
    agent.abort()
    await run.result
  })

  it('comes by the bridge and by useChat as it does here', async (context) => {
    for (const way of ['bridge', 'chat'] as const) {
      const definition = defineAgent({
        name: 'boss',
        model: scriptedModel([calls('a', help, help), 'done']),
        agents: [helper()],
        permissions: {},
        toolExecution: 'sequential',
      })
      const serving = await serveChats(context, [definition])
      const agent = await serving.runtime.spawn(definition, { id: 'chat' })
      const grant = { rule: 'run_command(make)', scope: 'session' } as const
      const chat = serving.chat()
      await chat.sendMessage({ text: 'go' })
      await settled(chat)
      const { key } = agent.pending()[0]!
      if (way === 'bridge') await serving.connect().agent('chat').decide(key, 'approve', { grant })
      else await chat.sendMessage(undefined, { body: { answers: { [key]: { decision: 'approve', grant } } } })
      await agent.settled()
      assert.equal(agent.pending(), [])
      assert.equal(
        agent.permissions()!.grants.map(({ rule }) => rule),
        ['run_command(make)'],
      )
      assert.equal(await startsOf(serving.store, 'chat.2'), ['run_command(make)'])
    }
  })
})

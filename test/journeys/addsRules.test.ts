import { z } from 'zod'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { RuleStore, StoredRule } from '../../src/protocol/ports/ruleStore.ts'
import { calls, quiet, startAgent, tool, withCode, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
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

const asked = async ({ until, ofType }: Harness, count: number): Promise<string> => {
  await until(() => ofType('approval.requested').length >= count)
  return ofType('approval.requested')[count - 1]!.key
}

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

describe('rules that people add', (it) => {
  it('come with a decision, in one record, and hold for the session, also once it is read again', async (context) => {
    const store = memoryStore()
    const harness = await start(context, {
      store,
      check: false,
      replies: [calls('a', line('npm test'), line('npm test'), line('npm run x')), 'done'],
    })
    const { agent, runtime, ofType } = harness
    const run = agent.prompt('go')
    agent.decide(await asked(harness, 1), 'approve', { grant: { rule: 'run_command(npm test)', scope: 'session' } })
    agent.decide(await asked(harness, 2), 'deny', { grant: { rule: 'run_command(npm run *)', scope: 'session' } })
    await run.result
    assert.equal(started(harness), ['mode ask', 'run_command(npm test)'])
    const decided = ofType('approval.decided').map(({ seq, key, grant }) => ({ seq, key, grant }))
    assert.equal(
      decided.map(({ grant }) => grant),
      [
        { rule: 'run_command(npm test)', scope: 'session' },
        { rule: 'run_command(npm run *)', scope: 'session' },
      ],
    )
    const shown = agent.permissions()!
    assert.equal(shown.grants, [
      { id: decided[0]!.key, rule: 'run_command(npm test)', decision: 'allow', scope: 'session', seq: decided[0]!.seq },
      { id: decided[1]!.key, rule: 'run_command(npm run *)', decision: 'deny', scope: 'session', seq: decided[1]!.seq },
    ])
    await agent.close()
    const model = scriptedModel([calls('b', line('npm test'), line('npm run y')), 'done'])
    const again = await runtime.resume('a1', defineAgent({ name: 'tester', model, tools, permissions: {} }))
    assert.equal(again.permissions(), shown)
    await again.prompt('more').result
    const [last] = model.requests.slice(-1)
    assert.match(JSON.stringify(last!.messages.at(-1)), 'run_command(npm run *)')
    await again.close()
  })

  it('are added and taken back by command, and show which record made them', async (context) => {
    const harness = await start(context, {
      replies: [calls('a', line('make')), 'done', calls('b', line('make')), 'done'],
    })
    const { agent, ofType } = harness
    agent.permit('run_command(make)', { for: 'session' })
    await agent.prompt('go').result
    assert.equal(started(harness), ['run_command(make)'])
    const [grant] = agent.permissions()!.grants
    assert.is(ofType('permission.granted')[0]!.seq, grant!.seq)
    agent.revoke(grant!.id)
    assert.equal(agent.permissions()!.grants, [])
    const run = agent.prompt('again')
    agent.decide(await asked(harness, 1), 'deny')
    await run.result
  })

  it('change the mode in mid-run, from the next call on', async (context) => {
    const harness = await start(context, {
      replies: [calls('a', line('first'), line('second'), 'look'), 'done'],
    })
    const { agent, ofType } = harness
    agent.permit('run_command', { for: 'session' })
    const unsubscribe = agent.subscribe(({ type }) => {
      if (type === 'tool.end' && ofType('tool.end').length === 1) agent.setMode('plan')
    })
    await agent.prompt('go').result
    unsubscribe()
    assert.equal(
      ofType('tool.start').map(({ name, rule }) => [name, rule]),
      [
        ['run_command', 'run_command'],
        ['look', 'mode plan'],
      ],
    )
    assert.match(JSON.stringify(ofType('tool.end')[1]!.message), 'Plan mode')
  })

  it('let people accept a plan, which ends plan mode', async (context) => {
    const harness = await start(context, {
      permissions: { mode: 'edits' },
      replies: [
        calls('a', line('rm x'), ['exit_plan', { plan: 'Bad.' }]),
        calls('b', ['exit_plan', { plan: 'Good.' }]),
        calls('c', ['exit_plan', { plan: 'Again.' }]),
        'done',
      ],
    })
    const { agent, ofType } = harness
    agent.setMode('plan')
    const run = agent.prompt('go')
    const plan = await asked(harness, 1)
    // No rule is offered that would accept every plan.
    assert.equal(
      agent.pending().map((one) => [one.name, 'suggest' in one && one.suggest]),
      [['exit_plan', []]],
    )
    agent.decide(plan, 'deny', 'Think again.')
    assert.is(agent.permissions()!.mode, 'plan')
    agent.decide(await asked(harness, 2), 'approve')
    await run.result
    assert.is(agent.permissions()!.mode, 'edits')
    assert.equal(
      ofType('mode.changed').map(({ mode, by }) => [mode, by]),
      [
        ['plan', 'person'],
        ['edits', 'plan'],
      ],
    )
    assert.match(JSON.stringify(ofType('tool.end').at(-1)!.message), 'You are not in plan mode')
  })

  it('hold always through a store, and are judged by what the log says', async (context) => {
    const rules = rulesInMemory()
    const permissions = { store: rules }
    const first = await start(context, {
      permissions,
      replies: [calls('a', line('make'), line('make')), 'done'],
    })
    const run = first.agent.prompt('go')
    first.agent.decide(await asked(first, 1), 'approve', { grant: { rule: 'run_command(make)', scope: 'always' } })
    await run.result
    assert.equal(rules.all, [{ rule: 'run_command(make)', decision: 'allow' }])
    assert.equal(started(first), ['mode ask', 'run_command(make)'])

    const second = await start(context, {
      permissions,
      id: 'a2',
      replies: [calls('a', line('make')), 'done', calls('b', line('make')), 'done'],
    })
    await second.agent.prompt('go').result
    assert.equal(started(second), ['run_command(make)'])
    assert.equal(
      second.ofType('permission.granted').map(({ id, by }) => [id, by]),
      [['always/allow/run_command(make)', 'store']],
    )
    // Taken back elsewhere: known from the next run on.
    first.agent.revoke('always/allow/run_command(make)')
    await quiet()
    assert.equal(rules.all, [])
    const next = second.agent.prompt('again')
    second.agent.decide(await asked(second, 1), 'deny')
    await next.result
    assert.equal(second.agent.permissions()!.grants, [])
  })

  it('lose none where the process dies between the record and the store, and run nothing while the store fails', async (context) => {
    const rules = rulesInMemory()
    rules.isBroken = true
    const harness = await start(context, {
      permissions: { store: rules },
      replies: [calls('a', 'look'), 'sorry', calls('b', line('make')), 'done'],
    })
    const { agent, ofType } = harness
    agent.permit('run_command(make)', { for: 'always' })
    await quiet()
    await agent.prompt('go').result
    assert.equal(started(harness), [])
    assert.match(JSON.stringify(ofType('tool.end')[0]!.message), 'the disk is full')
    rules.isBroken = false
    await agent.prompt('again').result
    assert.equal(rules.all, [{ rule: 'run_command(make)', decision: 'allow' }])
    assert.equal(started(harness), ['run_command(make)'])
  })

  it('hold for agents below the one that they were added to', async (context) => {
    const helper = defineAgent({
      name: 'helper',
      description: 'Helps.',
      model: scriptedModel([calls('h', line('make'), line('rm x')), 'done']),
      tools,
    })
    const harness = await start(context, {
      agents: [helper],
      replies: [calls('a', ['helper', { task: 't' }]), 'done'],
    })
    const { agent } = harness
    agent.permit('run_command(make)', { for: 'session' })
    agent.permit('run_command(rm *)', { for: 'session', decision: 'deny' })
    await agent.prompt('go').result
    const rows: unknown[] = []
    for await (const record of harness.store.read('a1.1')) if (record.type === 'tool.start') rows.push(record.rule)
    assert.equal(rows, ['run_command(make)'])
  })

  it('are added once, however often they are for the session', async (context) => {
    const { agent, records } = await start(context, {})
    const rules = ['run_command(make)', ' run_command(make)', 'look'] as const
    for (const rule of rules) agent.permit(rule, { for: 'session' })
    agent.permit('look', { for: 'session', decision: 'deny' })
    await agent.durable()
    const granted = (await records()).filter(({ type }) => type === 'permission.granted')
    assert.is(granted.length, 3)
  })

  it('stay behind in a fork, but for those that deny and the mode, unless that is auto', async (context) => {
    const harness = await start(context, { replies: ['one'] })
    const { agent, runtime, store } = harness
    agent.permit('run_command', { for: 'session' })
    agent.permit('look', { for: 'session', decision: 'deny' })
    agent.setMode('auto')
    await agent.prompt('go').result
    const { agentId } = await forkSession(store, 'a1', 'n2')
    const definition = defineAgent({ name: 'tester', model: scriptedModel([]), tools, permissions: {} })
    const shown = (await runtime.resume(agentId, definition)).permissions()!
    assert.is(shown.mode, 'ask')
    assert.equal(
      shown.grants.map(({ rule }) => rule),
      ['look'],
    )
  })

  it('ask nobody again about a call that was approved before there were rules', async (context) => {
    const harness = await start(context, {
      permissions: undefined as never,
      check: false,
      replies: [calls('a', line('make'))],
    })
    harness.agent.prompt('go')
    await asked(harness, 1)
    await harness.agent.close()
    const model = scriptedModel(['done'])
    const again = await harness.runtime.resume('a1', defineAgent({ name: 'tester', model, tools, permissions: {} }))
    const events: string[] = []
    again.subscribe(({ type }) => void events.push(type))
    const ended = new Promise<void>((resolve) => again.subscribe(({ type }) => type === 'run.end' && resolve()))
    again.decide('a0', 'approve')
    await ended
    assert.ok(events.includes('tool.start'))
    assert.not(events.includes('approval.requested'))
    await again.close()
  })

  it('hold no secret: the log and the agent have the rule as it is told', async (context) => {
    const harness = await start(context, {
      redact: { secrets: { PASSWORD: 'hunter2-hunter2' } },
      replies: [calls('a', line('login hunter2-hunter2')), 'done'],
    })
    const { agent, ofType } = harness
    const run = agent.prompt('go')
    const key = await asked(harness, 1)
    assert.equal(ofType('approval.requested')[0]!.suggest, ['run_command'])
    agent.decide(key, 'approve', { grant: { rule: 'run_command(login hunter2-hunter2)', scope: 'session' } })
    agent.permit('run_command(x hunter2-hunter2)', { for: 'session' })
    await run.result
    assert.not.match(JSON.stringify([await harness.records(), agent.permissions()]), /hunter2-hunter2/)
    assert.is(agent.permissions()!.grants.length, 2)
  })

  it('are refused when they are malformed, unknown, or nothing is judged', async (context) => {
    const { agent } = await start(context, {})
    assert.throws(() => agent.permit('a b', { for: 'session' }), withCode('RULE_INVALID', '"a b" is no rule'))
    assert.throws(() => agent.permit('look', { for: 'always' }), withCode('RULE_STORE_MISSING'))
    assert.throws(() => agent.revoke('x'), withCode('RULE_NOT_FOUND', '(there: none)'))
    assert.throws(() => agent.setMode('all' as 'auto'), withCode('INVALID_OPTION'))
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const plain = await runtime.spawn(defineAgent({ name: 'plain', model: scriptedModel([]) }))
    assert.is(plain.permissions(), null)
    assert.throws(() => plain.setMode('plan'), withCode('PERMISSIONS_OFF'))
    assert.throws(() => plain.permit('x', { for: 'session' }), withCode('PERMISSIONS_OFF'))
  })
})

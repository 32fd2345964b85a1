import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { defineAgent, policyModel } from '../../../src/index.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { checkpointForm } from '../../../src/runtime/agents/keptAgent.ts'
import { standingOf, type LogStanding } from '../src/logStanding.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { AgentScript } from '../../../test/machines/agentScript.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { until } from '../../../test/support/lives.ts'
import { sharedStore } from '../../../test/support/sharedStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** A store with these logs, all as they are. */
async function storeOf(logs: { readonly [agentId: string]: readonly LogRecord[] }): Promise<Store> {
  const store = memoryStore()
  for (const [agentId, records] of Object.entries(logs)) {
    const lease = await store.open(agentId)
    await store.append(agentId, records)
    await lease.release()
  }
  return store
}

/** The log that a life leaves. */
function logOf(live: (script: AgentScript) => void, policy: ConstructorParameters<typeof AgentScript>[0] = {}) {
  const script = new AgentScript(policy)
  live(script)
  return script.driver.records.map((record, index) => ({ ...record, seq: index + 1 }))
}

const held = (callId: string) => ({ callId, held: true })
const helper = { callId: 'h1', name: 'helper' }

const standings: {
  readonly [life: string]: readonly [
    expected: LogStanding['standing'],
    waiting: readonly string[],
    live: (script: AgentScript) => void,
    policy?: ConstructorParameters<typeof AgentScript>[0],
  ]
} = {
  'that has only begun': ['resting', [], () => {}],
  'that has answered': ['resting', [], (agent) => (agent.prompt('go'), agent.reply())],
  'in the middle of a reply': ['underWay', [], (agent) => agent.prompt('go')],
  'with a message that waits behind a run': ['underWay', [], (agent) => (agent.prompt('go'), agent.prompt('then'))],
  'with a running call': ['underWay', [], (agent) => (agent.prompt('go'), agent.reply({ calls: ['c1'] }))],
  'that waits for an approval': [
    'waiting',
    ['c1'],
    (agent) => (agent.prompt('go'), agent.reply({ calls: [held('c1')] })),
  ],
  'that waits with a result beside it': [
    'waiting',
    ['c2'],
    (agent) => (agent.prompt('go'), agent.reply({ calls: ['c1', held('c2')] }), agent.finishCall('c1')),
  ],
  'that waits, and a call after it for its turn': [
    'waiting',
    ['c1'],
    (agent) => (agent.prompt('go'), agent.reply({ calls: [held('c1'), 'c2'] })),
    { toolExecution: 'sequential' },
  ],
  'one of whose calls waits while another runs': [
    'underWay',
    ['c2'],
    (agent) => (agent.prompt('go'), agent.reply({ calls: ['c1', held('c2')] })),
  ],
  'one of whose calls runs after one that waits': [
    'underWay',
    ['c1'],
    (agent) => (agent.prompt('go'), agent.reply({ calls: [held('c1'), 'c2'] })),
  ],
  'whose first call is to start before one that waits': [
    'underWay',
    ['c3'],
    (agent) => {
      agent.prompt('go')
      agent.reply({ calls: ['c1', 'c2', held('c3')] })
      agent.finishCall('c1')
    },
    { toolExecution: 'sequential' },
  ],
  'that was spoken to while it waits': [
    'resting',
    [],
    (agent) => {
      agent.prompt('go')
      agent.reply({ calls: [held('c1')] })
      agent.steer('no')
      agent.reply()
    },
  ],
  'whose decided call waits for its turn behind one that waits': [
    'underWay',
    ['c1'],
    (agent) => {
      agent.prompt('go')
      agent.reply({ calls: [held('c1'), held('c2')] })
      agent.approve('c2')
    },
    { toolExecution: 'sequential' },
  ],
  'at its limit': [
    'paused',
    [],
    (agent) => (agent.prompt('go', { limits: { turns: 1 } }), agent.reply({ calls: ['c1'] }), agent.finishCall('c1')),
  ],
  'stopped for good': [
    'resting',
    [],
    (agent) => (agent.prompt('go'), agent.reply({ calls: [held('c1')] }), agent.stop(), agent.settle()),
  ],
}

describe('how an agent stands that does not run', (it) => {
  for (const [life, [expected, waiting, live, policy]] of Object.entries(standings))
    it(`is told by its log: one ${life}`, async () => {
      const store = await storeOf({ a: logOf(live, policy) })
      const { standing, waiting: found, definition, hasChildren, isReporting } = await standingOf(store, 'a')
      assert.equal([standing, found.map(({ pending }) => pending.callId)], [expected, [...waiting]])
      assert.equal([definition, hasChildren, isReporting], ['tester', false, false])
    })

  it('is told by a log that ends between a reply and its calls', async () => {
    const whole = logOf((agent) => (agent.prompt('go'), agent.reply({ calls: ['c1', held('c2')] })))
    const cut = whole.slice(
      0,
      whole.findIndex(({ type }) => type === 'tool.start'),
    )
    assert.is(cut.at(-1)?.type, 'approval.requested')
    const { standing, waiting } = await standingOf(await storeOf({ a: cut }), 'a')
    assert.equal([standing, waiting.length], ['underWay', 1])
  })

  it('is under way where it was brought back and has not gone on', async (context) => {
    const store = sharedStore(memoryStore())
    const slow = defineAgent({ name: 'slow', model: policyModel(() => new Promise<string>(() => {})) })
    const before = await createRuntime({ store })
    ;(await before.spawn(slow, { id: 'a' })).prompt('go')
    await before.agent('a')!.durable()
    await before.close({ detach: true })
    const after = await createRuntime({ store })
    context.cleanup(() => after.close())
    const agent = await after.resume('a', slow, { continue: false })
    await agent.durable()
    assert.is(agent.state, 'paused')
    await after.close({ detach: true })
    assert.is((await standingOf(store, 'a')).standing, 'underWay')
  })

  it('is that of those below it whose answer it owes', async () => {
    const calls = logOf((agent) => (agent.prompt('go'), agent.reply({ calls: [helper] })), { agents: ['helper'] })
    const child = logOf((agent) => (agent.prompt('go'), agent.reply({ calls: [held('c1')] })))
    const busy = logOf((agent) => agent.prompt('go'))
    const cases: readonly (readonly [below: readonly LogRecord[] | undefined, standing: string, waiting: number])[] = [
      [child, 'waiting', 1],
      [busy, 'underWay', 0],
      [undefined, 'underWay', 0],
    ]
    for (const [below, standing, count] of cases) {
      const store = await storeOf({ a: calls, ...(below === undefined ? {} : { 'a.1': below }) })
      const found = await standingOf(store, 'a')
      assert.equal([found.standing, found.waiting.length, found.hasChildren], [standing, count, true])
      if (count > 0) assert.equal([found.waiting[0]!.path, found.waiting[0]!.pending.agentId], [['a'], 'a.1'])
    }
  })

  it('has its own first, whatever becomes of the logs below', async () => {
    const own = logOf((agent) => (agent.prompt('go'), agent.reply({ calls: [helper, held('c1')] })), {
      agents: ['helper'],
    })
    const store = await storeOf({ a: own })
    const broken: Store = {
      ...store,
      read: (id, fromSeq, limit) => {
        if (id === 'a.1') throw new Error('The disk is broken')
        return store.read(id, fromSeq, limit)
      },
    }
    const found = await standingOf(broken, 'a')
    assert.equal([found.standing, found.waiting.map(({ pending }) => pending.callId)], ['underWay', ['c1']])
    await assert.rejects(standingOf(broken, 'a.1'), /The disk is broken/)
  })

  it('ends its search below somewhere', async () => {
    const script = new AgentScript({ agents: ['helper'] })
    script.prompt('go')
    script.reply({ calls: [helper] })
    const log = script.driver.records.map((record, index) => ({ ...record, seq: index + 1 }))
    const round = JSON.parse(JSON.stringify(log).replaceAll('"a.1"', '"a"')) as LogRecord[]
    const found = await standingOf(await storeOf({ a: round }), 'a')
    assert.equal([found.standing, found.waiting.length], ['underWay', 0])
  })

  it('is read from the log where a checkpoint is of no use', async () => {
    const store = await storeOf({ a: logOf((agent) => (agent.prompt('go'), agent.reply({ calls: [held('c1')] }))) })
    const lease = await store.open('a')
    const useless = { seq: 2, digest: 'of another log', body: new Uint8Array(8) }
    for (const form of ['unknown', checkpointForm]) {
      await store.checkpoints!.write('a', { ...useless, form }, lease.epoch)
      assert.is((await standingOf(store, 'a')).standing, 'waiting')
    }
    const unreadable: Store = {
      ...store,
      checkpoints: { ...store.checkpoints!, read: () => Promise.reject(new Error('It is damaged')) },
    }
    assert.is((await standingOf(unreadable, 'a')).standing, 'waiting')
  })

  it('is the same from a checkpoint and the records since as from the whole log', async (context) => {
    const store = sharedStore(memoryStore())
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const pay = tool('pay', () => 'paid', { needsApproval: true, effects: 'irreversible' })
    const model = policyModel(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('pay') ? { toolCalls: [{ name: 'pay', input: {} }] } : 'Hello',
    )
    const payer = defineAgent({ name: 'payer', model, tools: [pay] })
    const agent = await runtime.spawn(payer, { id: 'a', metadata: { user: 'anna' } })
    while (agent.lastSeq < 300) await agent.prompt('go').result
    await runtime.detach('a')
    const again = await runtime.resume('a', payer)
    again.prompt('pay')
    await until(again, ({ type }) => type === 'approval.requested')
    await again.durable()
    await runtime.close({ detach: true })

    const starts: (number | undefined)[] = []
    const watched: Store = {
      ...store,
      read: (id, fromSeq, limit) => {
        starts.push(fromSeq)
        return store.read(id, fromSeq, limit)
      },
    }
    const { checkpoints: _, ...without } = store
    const [fromCheckpoint, fromLog] = [await standingOf(watched, 'a'), await standingOf(without, 'a')]
    assert.equal(fromCheckpoint, fromLog)
    assert.equal(starts, [(await store.checkpoints!.read('a'))!.seq])
    const { pending } = fromLog.waiting[0]!
    assert.equal([fromLog.standing, fromLog.title, fromLog.metadata], ['waiting', 'go', { user: 'anna' }])
    assert.equal(
      [pending.kind, pending.kind === 'approval' && pending.irreversible, typeof pending.askedAt],
      ['approval', true, 'number'],
    )
  })
})

import type { Pending, WaitingAgent } from '../../../../src/client.ts'
import { defineAgent, type AgentDefinition, type Grant, type Runtime } from '../../../../src/index.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import { asks, caller, until } from '../../../../test/support/lives.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { approving, lastingStore, logOf, serveAgents } from './bridgeHarness.ts'

const { worker, boss } = approving()
const payer = defineAgent({ name: 'payer', model: caller(['pay']), tools: [asks('pay')] })

async function ask(runtime: Runtime, definition: AgentDefinition, id: string, user: string): Promise<void> {
  const agent = await runtime.spawn(definition, { id, metadata: { user } })
  agent.prompt(`For ${user}`)
  await until(agent, ({ type }) => type === 'approval.requested')
  await agent.durable()
}

const tokens: { readonly [token: string]: Grant } = {
  'staff-0123456789abcdef': { role: 'drive' },
  'annas-0123456789abcdef': { role: 'talk', metadata: { user: 'anna' } },
  'below-0123456789abcdef': { role: 'observe', agents: ['tree.1'] },
  'chosen-0123456789abcdef': { role: 'observe', agents: ({ id }) => id === 'own' },
}

const idsOf = ({ waiting }: { readonly waiting: readonly WaitingAgent[] }): string[] =>
  waiting.map(({ agentId }) => agentId)

/** Leaves an agent that waits, and one that another called, in the store of a process that ended. */
async function left(test: CaseContext) {
  const store = lastingStore()
  const before = await serveAgents(test, [worker, boss, payer], { runtime: { store } })
  await ask(before.runtime, payer, 'own', 'anna')
  await ask(before.runtime, boss, 'tree', 'ben')
  await before.runtime.close({ detach: true })
  return await serveAgents(test, [worker, boss, payer], { runtime: { store }, tokens })
}

describe('the list of what waits', (it) => {
  it('shows each client what it reaches, as far as it may see that, and wakes nothing', async (test) => {
    const serving = await left(test)
    const staff = await serving.connect({ token: 'staff-0123456789abcdef' }).waiting()
    assert.equal(idsOf(staff), ['own', 'tree'])
    assert.is(staff.total, 2)
    const [own, tree] = staff.waiting
    assert.equal(
      [own?.title, own?.metadata, own?.isRunning, tree?.pending[0]?.agentId],
      ['For anna', { user: 'anna' }, false, 'tree.1'],
    )
    assert.ok(own!.pending[0]!.askedAt! > 0)
    const annas = await serving.connect({ token: 'annas-0123456789abcdef' }).waiting()
    assert.equal(idsOf(annas), ['own'])
    const below = await serving.connect({ token: 'below-0123456789abcdef' }).waiting()
    assert.equal(idsOf(below), ['tree.1'])
    assert.equal(idsOf(await serving.connect({ token: 'chosen-0123456789abcdef' }).waiting()), ['own'])
    assert.equal(serving.runtime.agents(), [])
  })

  it('shows no more what was decided below an agent whose own log stays as it is', async (test) => {
    const { connect, store } = await left(test)
    const client = connect({ token: 'staff-0123456789abcdef' })
    assert.equal(idsOf(await client.waiting()), ['own', 'tree'])
    const asked = ((await logOf(store, 'tree.1')) as LogRecord[]).find((record) => record.type === 'approval.requested')
    const { v, runId, turnIndex, callId, key } = asked as RecordOf<'approval.requested'>
    const lease = await store.open('tree.1')
    const decided = { v, runId, turnIndex, callId, key, time: 1, seq: lease.lastSeq + 1, decision: 'deny' } as const
    await store.append('tree.1', [{ ...decided, type: 'approval.decided' }], lease.epoch)
    await lease.release()
    assert.equal(idsOf(await client.waiting()), ['own'])
  })

  it('keeps arguments from who sees messages alone', async (test) => {
    const paying = defineAgent({
      name: 'paying',
      model: caller(['pay']),
      tools: [asks('pay')],
      beforeTool: () => ({ input: { secret: 'arguments' } }),
    })
    const serving = await serveAgents(test, [paying], { tokens })
    await ask(serving.runtime, paying, 'p', 'anna')
    const inputs = async (token: string): Promise<readonly Pending['input'][]> =>
      (await serving.connect({ token }).waiting()).waiting.flatMap(({ pending }) => pending.map(({ input }) => input))
    assert.equal(await inputs('staff-0123456789abcdef'), [{ secret: 'arguments' }])
    assert.equal(await inputs('annas-0123456789abcdef'), [{}])
  })

  it('has a limit, and says how many there are', async (test) => {
    const serving = await left(test)
    const client = serving.connect({ token: 'staff-0123456789abcdef' })
    const { waiting, total } = await client.waiting({ limit: 1 })
    assert.equal([waiting.length, total], [1, 2])
    assert.equal(idsOf(await client.waiting({ metadata: { user: 'ben' } })), ['tree'])
    await assert.rejects(client.waiting({ limit: 0 }), /limit/)
  })
})

describe('who watches what waits', (it) => {
  it('hears of what was decided at an agent that did not run, and of what is new', async (test) => {
    const serving = await left(test)
    const client = serving.connect({ token: 'staff-0123456789abcdef' })
    const heard: string[][] = []
    let more = Promise.withResolvers<void>()
    const end = client.watchWaiting((waiting) => {
      heard.push(idsOf(waiting))
      more.resolve()
      more = Promise.withResolvers<void>()
    })
    const hears = async (ids: readonly string[]): Promise<void> => {
      while (JSON.stringify(heard.at(-1)) !== JSON.stringify(ids)) await more.promise
    }
    await hears(['own', 'tree'])
    const { waiting } = await client.waiting()
    await client.agent('tree').decide(waiting[1]!.pending[0]!.key, 'approve')
    await hears(['own'])
    await ask(serving.runtime, payer, 'new', 'cleo')
    await hears(['own', 'new'])
    end()
    const before = heard.length
    await client.agent('own').decide(waiting[0]!.pending[0]!.key, 'deny')
    assert.equal(idsOf(await client.waiting()), ['new'])
    assert.is(heard.length, before)
  })
})

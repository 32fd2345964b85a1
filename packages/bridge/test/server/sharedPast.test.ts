import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { ErasableStore, Store } from '../../../../src/protocol/ports/store.ts'
import { forkSession } from '../../../sessions/src/forkSession.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const token = 'admin-token-0123456789'
const ofFork = 'fork-token-0123456789'
const echo = defineAgent({
  name: 'echo',
  model: policyModel(({ messages }) => `reply ${messages.length}`),
  compaction: { contextWindow: 1_000_000 },
})

/** A session of two prompts, a fork of it after the first, and a fork of that. */
async function served(context: CaseContext, texts: readonly string[] = ['one', 'secret']) {
  const tokens = { [token]: 'admin', [ofFork]: { role: 'observe', agents: ['fork', 'forkOfFork'] } } as const
  const serving = await serveAgents(context, [echo], { tokens })
  const { runtime, store } = serving
  const source = await runtime.spawn(echo, { id: 'source' })
  for (const text of texts) await source.prompt(text).result
  await source.durable()
  await forkSession(store, 'source', 'n2', { id: 'fork' })
  const fork = await runtime.resume('fork', echo)
  await fork.prompt('two').result
  await fork.durable()
  await forkSession(store, 'fork', 'n4', { id: 'forkOfFork' })
  return serving
}

async function logOf(store: Store, id: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(id)) records.push(record)
  return records
}

const textsOf = (records: readonly LogRecord[]): string => JSON.stringify(records)

describe('the past of a fork', (it) => {
  it('is read by whoever may read the fork, up to where it was left, and nothing else of its source', async (context) => {
    const { connect, store } = await served(context)
    const client = connect({ token: ofFork })
    const [past = [], ...others] = await client.agent('fork').past()
    const all = await logOf(store, 'source')
    const [created] = await logOf(store, 'fork')
    const upTo = created?.type === 'agent.created' ? created.forkedFrom!.seq : 0
    assert.ok(upTo > 1 && upTo < all.length)
    assert.equal(
      past.map(({ seq, type }) => [seq, type]),
      all.slice(0, upTo).map(({ seq, type }) => [seq, type]),
    )
    assert.equal(others, [])
    assert.match(textsOf(past), /"one"/)
    assert.not.match(textsOf(past), /secret/)
    await assert.rejects(client.agent('source').snapshot(), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(client.agent('source').past(), withCode('BRIDGE_FORBIDDEN'))
  })

  it('has a part for each log that it goes through', async (context) => {
    const { connect, server } = await served(context)
    const { token: shared } = await server.shareLink('forkOfFork')
    const client = connect({ token: shared })
    const past = await client.agent('forkOfFork').past()
    assert.is(past.length, 2)
    assert.match(textsOf(past[0]!), /"one"/)
    assert.match(textsOf(past[1]!), /"two"/)
    assert.not.match(textsOf(past.flat()), /secret/)
    await assert.rejects(client.agent('fork').past(), withCode('BRIDGE_FORBIDDEN'))
  })

  it('comes in pages, however long its records are', async (context) => {
    const { connect, dial } = await served(context, ['x'.repeat(1_200_000), 'y'])
    const client = connect({ token })
    assert.is((await client.agent('fork').past()).length, 1)
    const bare = await dial({ hello: { token } })
    const first = await bare.ask({ type: 'agent.past', agentId: 'forkOfFork' })
    const page = (first as { result: { part: number; records: LogRecord[]; next: { part: number; seq: number } } })
      .result
    assert.is(page.part, 0)
    assert.equal(page.next, { part: 0, seq: page.records.length + 1 })
    const whole = await client.agent('forkOfFork').past()
    assert.equal(
      whole.map((part) => part.map(({ seq }) => seq)),
      whole.map((part) => part.map((_, index) => index + 1)),
    )
  })

  it('is empty for what is no fork, and refused beyond its end', async (context) => {
    const { connect, dial } = await served(context)
    assert.equal(await connect({ token }).agent('source').past(), [])
    await assert.rejects(connect({ token }).agent('none').past(), withCode('AGENT_NOT_FOUND'))
    const bare = await dial({ hello: { token } })
    for (const from of [
      { part: 1, seq: 1 },
      { part: 0, seq: 1_000 },
      { part: -1, seq: 1 },
      { part: 0, seq: 0 },
    ]) {
      const answer = await bare.ask({ type: 'agent.past', agentId: 'fork', from })
      assert.is(answer.type, 'error', JSON.stringify(from))
    }
  })

  it('says what a sub-agent said, of which it is, only to who sees everything', async (context) => {
    const helper = defineAgent({ name: 'helper', model: policyModel(() => 'words of the helper') })
    const model = policyModel(({ messages }) =>
      messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'helper', input: { task: 'the task' } }] } : 'done',
    )
    const boss = defineAgent({ name: 'boss', model, agents: [helper] })
    const talker = 'talk-token-0123456789'
    const serving = await serveAgents(context, [boss, helper], { tokens: { [token]: 'admin', [talker]: 'talk' } })
    const agent = await serving.runtime.spawn(boss, { id: 'boss' })
    await agent.prompt('go').result
    await forkSession(serving.store, 'boss.1', 'n2', { id: 'fork' })
    const pastFor = async (given: string) =>
      textsOf((await serving.connect({ token: given }).agent('fork').past()).flat())
    assert.match(await pastFor(token), /the task[^]*words of the helper/)
    const seen = await pastFor(talker)
    assert.match(seen, /reply\.end/)
    assert.not.match(seen, /the task|words of the helper/)
  })

  it('is missing where the source is gone', async (context) => {
    const { connect, store, runtime } = await served(context)
    await runtime.agent('source')?.stop()
    await (store as ErasableStore).delete('source')
    await assert.rejects(connect({ token }).agent('fork').past(), withCode('AGENT_NOT_FOUND', 'source'))
  })
})

describe('a list of sessions with forks', (it) => {
  it('names the source only where that is within reach', async (context) => {
    const { connect } = await served(context)
    const sourcesFor = async (given: string) => {
      const { sessions } = await connect({ token: given }).sessions()
      return sessions.map(({ agentId, forkedFrom }) => `${agentId} of ${forkedFrom ?? 'nobody'}`).toSorted()
    }
    assert.equal(await sourcesFor(token), ['fork of source', 'forkOfFork of fork', 'source of nobody'])
    assert.equal(await sourcesFor(ofFork), ['fork of nobody', 'forkOfFork of fork'])
  })
})

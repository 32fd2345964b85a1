import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, gate, resultsOf, tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { Heard, lastingStore, serveAgents } from './bridgeHarness.ts'

const poll = tool('poll', (_, { ask }) => ask(z.enum(['red', 'blue']), 'Which?'))
const locate = defineTool({ name: 'locate', description: 'Where.', input: z.object({ near: z.string().optional() }) })

const tester = (name: string) => {
  const model = scriptedModel([calls('c', name), 'done'])
  return { model, definition: defineAgent({ name: 'tester', model, tools: [poll, locate] }) }
}

async function started(context: CaseContext, name: string) {
  const { model, definition } = tester(name)
  const serving = await serveAgents(context, [definition])
  const agent = await serving.connect().spawn('tester', { id: 'a1' })
  const heard = new Heard()
  agent.subscribe(heard.listen)
  await agent.snapshot()
  return { serving, agent, heard, model, run: agent.prompt('go') }
}

/** The code that a promise rejects with. */
const refusedWith = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'taken',
    (thrown: unknown) => (thrown as { code?: string }).code,
  )

describe('a question, from afar', (it) => {
  it('is in the snapshot, refuses what does not fit, and takes the first of two answers', async (context) => {
    const { serving, agent, heard, model, run } = await started(context, 'poll')
    const asked = await heard.until(({ type }) => type === 'question.asked')
    assert.ok(asked.type === 'question.asked')
    const { asked: waiting = [], pending, approvals } = await agent.snapshot()
    assert.equal([pending, approvals], [[asked.key], []])
    assert.ok(waiting[0]?.kind === 'question')
    assert.equal([waiting[0].question, waiting[0].schema['enum']], ['Which?', ['red', 'blue']])
    await assert.rejects(agent.decide(asked.key, { value: 'green' }), withCode('ANSWER_INVALID', 'red'))
    await assert.rejects(agent.decide(asked.key, 'approve'), withCode('ANSWER_INVALID'))
    assert.throws(() => agent.decide(asked.key, { value: undefined }), withCode('INVALID_OPTION'))
    const other = serving.connect().agent('a1')
    const answers = [agent.decide(asked.key, { value: 'red' }), other.decide(asked.key, { value: 'blue' })]
    const outcomes = await Promise.all(answers.map(refusedWith))
    assert.equal(new Set(outcomes), new Set(['CALL_NOT_PENDING', 'taken']))
    await run.result
    assert.equal(resultsOf(model.requests[1]), [outcomes[0] === 'taken' ? 'red' : 'blue'])
  })

  it('is answered once by a command that is sent again, also to the next server', async (context) => {
    const store = lastingStore()
    const { definition } = tester('poll')
    const before = await serveAgents(context, [definition], { runtime: { store } })
    const agent = await before.runtime.spawn(definition, { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    const run = agent.prompt('go')
    await heard.until(({ type }) => type === 'question.asked')
    const answer = { type: 'agent.decide', agentId: 'a1', callId: 'c0', decision: 'answer', value: 'red', id: 'c1' }
    const first = await before.dial({ hello: { sessionId: 's1' } })
    first.send(answer)
    await run.result
    await before.runtime.close()
    const after = await serveAgents(context, [definition], { runtime: { store } })
    const again = await after.dial({ hello: { sessionId: 's1' } })
    again.send(answer)
    assert.is((await again.until((frame) => 'id' in frame && frame.id === 'c1')).type, 'ok')
  })

  it('waits in the snapshot of an agent that does not run, and its answer wakes it', async (context) => {
    const store = lastingStore()
    const { definition } = tester('poll')
    const before = await serveAgents(context, [definition], { runtime: { store } })
    const agent = await before.runtime.spawn(definition, { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    agent.prompt('go')
    await heard.until(({ type }) => type === 'question.asked')
    const pending = agent.pending()
    await before.runtime.close()
    const next = tester('poll')
    const after = await serveAgents(context, [definition], { runtime: { store } })
    const remote = after.connect().agent('a1')
    const { asked, state } = await remote.snapshot()
    assert.equal([asked?.map(({ askedAt: _, ...one }) => one), state], [pending, 'closed'])
    const later = new Heard()
    remote.subscribe(later.listen, { fromSeq: 1 })
    await remote.decide(pending[0]!.key, { value: 'blue' })
    const end = await later.until(({ type }) => type === 'tool.end')
    assert.ok(end.type === 'tool.end' && end.message.content[0]?.type === 'text')
    assert.is(end.message.content[0].text, 'blue')
    assert.is(next.model.requests.length, 0)
  })
})

describe('a client that carries calls out', (it) => {
  it('gives what its function returns, or why it failed', async (context) => {
    const { agent, model, run } = await started(context, 'locate')
    const seen: unknown[] = []
    agent.onCall<{ near?: string }>('locate', (input, { key, name }) => {
      seen.push([input, key, name])
      return { lat: 48 }
    })
    await run.result
    assert.equal(resultsOf(model.requests[1]), ['{"lat":48}'])
    assert.equal(seen, [[{}, 'a1/t0/tool/c0', 'locate']])
    assert.throws(() => agent.onCall('locate', () => 1), withCode('INVALID_OPTION', 'locate'))
    assert.throws(() => agent.onCall('other', 7 as never), withCode('INVALID_OPTION', 'number'))

    const failing = await started(context, 'locate')
    failing.agent.onCall('locate', () => {
      throw new Error('no GPS')
    })
    await failing.run.result
    assert.equal(resultsOf(failing.model.requests[1]), ['no GPS'])
  })

  it('carries out what waited before it came, and what a sub-agent asks for', async (context) => {
    const model = scriptedModel([calls('k', 'locate'), 'here'])
    const child = defineAgent({ name: 'child', description: 'Finds.', model, tools: [locate] })
    const lead = defineAgent({
      name: 'lead',
      model: scriptedModel([calls('c', ['child', { task: 'find' }]), 'found']),
      agents: [child],
    })
    const serving = await serveAgents(context, [lead])
    const agent = await serving.runtime.spawn(lead, { id: 'lead' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    const run = agent.prompt('go')
    await heard.until(({ type }) => type === 'call.requested')
    const forget = serving
      .connect()
      .agent('lead')
      .onCall('locate', (_, { agentId }) => agentId)
    assert.is((await run.result).text, 'found')
    assert.equal(resultsOf(model.requests[1]), ['lead.1'])
    forget()
  })

  it('leaves it to whoever is faster, and is told', async (context) => {
    const { serving, agent, model, run } = await started(context, 'locate')
    const [begun, told] = [gate(), gate<unknown>()]
    const slow = serving.connect()
    const errors: unknown[] = []
    slow.onError((error) => errors.push(error))
    slow.agent('a1').onCall(
      'locate',
      (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => told.resolve(signal.reason))
          begun.resolve()
        }),
    )
    await begun.promise
    agent.onCall('locate', () => 'fast')
    await run.result
    assert.equal(resultsOf(model.requests[1]), ['fast'])
    assert.match(String(await told.promise), /waits no more/)
    assert.equal(errors, [])
  })

  it('goes on after it was cut off, and on the next server', async (context) => {
    const store = lastingStore()
    const { definition } = tester('locate')
    const before = await serveAgents(context, [definition], { runtime: { store } })
    const { port } = new URL(before.server.url)
    const client = before.connect()
    const agent = await client.spawn('tester', { id: 'a1' })
    const begun = gate()
    let times = 0
    agent.onCall('locate', () => {
      times += 1
      begun.resolve()
      return times === 1 ? new Promise(() => {}) : 'found'
    })
    agent.prompt('go')
    await begun.promise
    await before.runtime.close()
    const after = await serveAgents(context, [definition], { runtime: { store }, port: Number(port) })
    const heard = new Heard()
    after.connect().agent('a1').subscribe(heard.listen, { fromSeq: 1 })
    const fresh = after.connect().agent('a1')
    fresh.onCall('locate', () => 'found')
    const end = await heard.until(({ type }) => type === 'tool.end')
    assert.ok(end.type === 'tool.end')
    assert.equal(end.message.content, [{ type: 'text', text: 'found' }])
  })
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { restateClient, type RestateClient } from '../../../../src/restate.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { calls, tool, withCode } from '../../../../test/support/agentHarness.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { heldReply } from './heldReply.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine } from './withEngine.ts'

describeWithEngine('a client of an engine', (it) => {
  it('has the result and the events of a run from the store', async ({ worker, client }) => {
    await worker([defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Done.' }, { text: 'Again.' }]) })])
    const agent = await (await client()).open('a1')
    const run = agent.prompt('Fix it.')
    const events: AgentEvent[] = []
    for await (const event of run) events.push(event)
    const result = await run.result
    assert.equal([result.stopReason, result.text, result.turns], ['stop', 'Done.', 1])
    assert.equal(
      events.map(({ type }) => type),
      ['run.start', 'message.added', 'turn.start', 'reply.end', 'turn.end', 'run.end'],
    )
    assert.is((await agent.prompt('And now?').result).text, 'Again.')
    const { nodes } = await agent.conversation()
    assert.is(nodes.length, 4)
    assert.equal((await agent.snapshot()).state, 'completed')
  })

  it('steers, follows up and aborts a run under way', async ({ worker, client, store }) => {
    const first = heldReply('First.')
    const last = heldReply('Never.')
    const model = scriptedModel([first.reply, { text: 'Second.' }, { text: 'Third.' }, last.reply])
    await worker([defineAgent({ name: 'coder', model })])
    const agent = await (await client()).open('a1')
    const run = agent.prompt('Fix it.')
    await first.asked
    await Promise.all([agent.steer('And test it.'), agent.followUp('And publish it.')])
    // Two senders at once: either may be first.
    const queued = new Set<string>()
    for await (const event of run) {
      if (event.type === 'queue.changed') queued.add(event.queue)
      if (queued.size === 2) break
    }
    first.goOn()
    const { text, turns } = await run.result
    assert.equal([text, turns], ['Third.', 3])
    const other = agent.prompt('Once more.')
    await last.asked
    await agent.abort()
    assert.is((await other.result).stopReason, 'aborted')
    const said = (await recordsIn(store(), 'a1')).filter(({ type }) => type === 'message.added')
    assert.is(said.length, 4)
  })

  it('interrupts a run, and both have their results', async ({ worker, client }) => {
    const first = heldReply('Never.')
    await worker([defineAgent({ name: 'coder', model: scriptedModel([first.reply, { text: 'Other.' }]) })])
    const agent = await (await client()).open('a1')
    const run = agent.prompt('Fix it.')
    await first.asked
    const other = agent.interrupt('Leave it.')
    assert.is((await run.result).stopReason, 'aborted')
    assert.is((await other.result).text, 'Other.')
  })

  it('decides a call that waits while nothing is held, and hears why not', async ({ worker, client, engine, name }) => {
    let ran = 0
    const publish = tool('publish', () => `published ${(ran += 1)}`, { needsApproval: true })
    const model = scriptedModel([calls('c', 'publish'), { text: 'It is out.' }])
    await worker([defineAgent({ name: 'coder', model, tools: [publish] })])
    const agent = await (await client()).open('a1')
    const run = agent.prompt('Publish it.')
    let key = ''
    for await (const event of run) {
      if (event.type !== 'approval.requested') continue
      key = event.key
      break
    }
    while ((await engine.invocations(name)).length > 0) await new Promise((resolve) => setImmediate(resolve))
    await assert.rejects(() => agent.decide('nothing', 'approve'), withCode('CALL_NOT_PENDING'))
    assert.is(ran, 0)
    await agent.decide(key, 'approve')
    assert.is((await run.result).text, 'It is out.')
    assert.is(ran, 1)
  })

  it('spawns an agent once, with its metadata', async ({ worker, client, store }) => {
    await worker([defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Done.' }]) })])
    const asking = await client()
    const agent = await asking.spawn('coder', { id: 'a1', metadata: { userId: 'u1' } })
    assert.is((await agent.prompt('Fix it.').result).text, 'Done.')
    await assert.rejects(() => asking.spawn('coder', { id: 'a1' }), withCode('AGENT_EXISTS'))
    const [created] = await recordsIn(store(), 'a1')
    assert.ok(created?.type === 'agent.created')
    assert.equal(created.metadata, { userId: 'u1' })
    assert.equal(
      (await asking.agents()).agents.map(({ agentId }) => agentId),
      ['a1'],
    )
    assert.is((await asking.sessions()).total, 1)
    const { hits, sessions } = await asking.search('fix')
    assert.equal(
      [...hits, ...sessions].map(({ agentId }) => agentId),
      ['a1', 'a1'],
    )
  })

  it('asks under an id of its own, once for all clients', async ({ worker, client, store }) => {
    await worker([defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Done.' }]) })])
    const command = { type: 'agent.prompt', agentId: 'a1', content: 'Fix it.' } as const
    const one = await (await client()).request(command, { requestId: 'order-1' })
    const other = await (await client()).request(command, { requestId: 'order-1', delayMs: 10 })
    assert.equal(one, other)
    assert.is((await recordsIn(store(), 'a1')).filter(({ type }) => type === 'run.start').length, 1)
  })

  it('says what a worker refuses, and that no worker has such an object', async ({ worker, client }) => {
    await worker([defineAgent({ name: 'coder', model: scriptedModel([]) })])
    const wrong = await (await client()).open('a1', 'writer')
    const { stopReason, error } = await wrong.prompt('Write.').result
    assert.equal([stopReason, error?.code], ['error', 'INVALID_DEFINITION'])
    const nowhere = await (await client({ name: 'nobody' })).open('a1')
    const refused = await nowhere.prompt('Write.').result
    assert.equal([refused.stopReason, refused.error?.code], ['error', 'ENGINE_REFUSED'])
    await assert.rejects(() => nowhere.steer('Write.'), withCode('ENGINE_REFUSED'))
  })

  it('refuses what is too large for an engine before it gets there', async ({ client }) => {
    const agent = await (await client()).open('a1')
    const { error } = await agent.prompt('x'.repeat(16 * 1024 * 1024)).result
    assert.is(error?.code, 'ENGINE_LIMIT')
  })
})

/** Answer of an engine that has just begun for an object it does not know yet, as Restate 1.7 gives it. */
const notFound = { status: 404, body: { code: 404, message: "service 'agent' not found" } }
const done = { status: 200, body: { status: 'done', seq: 1, stopReason: 'stop' } }

/** A server that gives these answers, the last one for ever; `undefined`: it breaks the connection off. */
async function answering({ cleanup }: CaseContext, ...answers: (typeof notFound | typeof done | undefined)[]) {
  const asked = { count: 0 }
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked.count, answers.length - 1)]
    asked.count += 1
    if (answer === undefined) request.socket.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup(() => server.close())
  cleanup(() => server.closeAllConnections())
  return { ingress: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe('a client whose engine begins again', (it) => {
  const prompt = { type: 'agent.prompt', agentId: 'a1', content: 'Fix it.' } as const
  const asking = async (context: CaseContext, ingress: string, patienceMs?: number): Promise<RestateClient> => {
    const client = await restateClient({ ingress, store: memoryStore(), ...(patienceMs && { patienceMs }) })
    context.cleanup(() => client.close())
    return client
  }

  it('asks again until it knows the object that it had, also where it was gone meanwhile', async (context) => {
    const known = await answering(context, done, notFound, notFound, done)
    const client = await asking(context, known.ingress)
    await client.request(prompt)
    assert.is((await client.request(prompt)).status, 'done')
    assert.is(known.asked.count, 4)
    const gone = await answering(context, undefined, notFound, done)
    assert.is((await (await asking(context, gone.ingress)).request(prompt)).status, 'done')
  })

  it('is told at once of an object that there never was, and after a while of one that is gone', async (context) => {
    const never = await answering(context, notFound)
    await assert.rejects((await asking(context, never.ingress)).request(prompt), withCode('ENGINE_REFUSED'))
    assert.is(never.asked.count, 1)
    const gone = await answering(context, done, notFound)
    const client = await asking(context, gone.ingress, 1)
    await client.request(prompt)
    await assert.rejects(client.request(prompt), withCode('ENGINE_REFUSED', 'no object "agent"'))
  })
})

describe('a client without an engine', (it) => {
  it('refuses what is no URL, and says where none answers', async ({ cleanup }) => {
    const store = memoryStore()
    for (const ingress of ['localhost:8080', 'nonsense', 'ftp://here'])
      await assert.rejects(() => restateClient({ ingress, store }), withCode('INVALID_OPTION'))
    const client = await restateClient({ ingress: `http://127.0.0.1:${await freePort()}`, store, patienceMs: 1 })
    cleanup(() => client.close())
    const agent = await client.open('a1')
    const { error } = await agent.prompt('Fix it.').result
    assert.is(error?.code, 'ENGINE_UNREACHABLE')
    assert.match(String(error?.message), /No engine takes requests at http:.*ECONNREFUSED/)
  })
})

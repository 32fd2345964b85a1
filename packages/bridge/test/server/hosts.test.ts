import { createMachine } from 'xstate'
import { defineHost } from '../../../xstate/src/hosts/defineHost.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { failsWith } from '../../../stores/test/storeFolder.ts'
import { sharedStore } from '../../../../test/support/sharedStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { hostMachine } from '../../../xstate/src/hosts/hostMachine.ts'
import { counter, recordsOf } from '../../../xstate/test/hosts/hostParts.ts'
import { connect as connectTo } from '../../src/client/connect.ts'
import { createRuntime, type Runtime } from '../../src/createRuntime.ts'
import type { InProcessOptions } from '../../src/inProcess/inProcessServer.ts'

/** Takes notes, and comes to its end. */
const ending = defineHost({
  name: 'ending',
  version: '3',
  machine: createMachine({
    id: 'ending',
    initial: 'open',
    states: { open: { on: { note: {}, finish: 'over' } }, over: { type: 'final' } },
  }),
})

async function begin(context: CaseContext, store = sharedStore(memoryStore())) {
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  return { store, runtime }
}

const connect = async (context: CaseContext, runtime: Runtime, options: InProcessOptions = {}) => {
  const client = await runtime.connect(options)
  context.cleanup(() => client.close())
  return client
}

/** A client whose token is of one machine. */
async function serveWith(context: CaseContext, runtime: Runtime) {
  const { port } = await runtime.serve({
    port: 0,
    tokens: { 'a-secret-of-16-chars': { role: 'drive', agents: ['d'] } },
  })
  const client = connectTo(`ws://127.0.0.1:${port}/bridge`, { token: 'a-secret-of-16-chars' })
  context.cleanup(() => client.close())
  await client.ready
  return client
}

describe('machines that a server keeps', (it) => {
  it('are listed, read and sent events by clients', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    const client = await connect(context, runtime)
    assert.equal(
      (await client.hosts()).map(({ id, machine, value }) => ({ id, machine, value })),
      [{ id: 'c', machine: 'counter', value: 'counting' }],
    )
    assert.equal(runtime.hosts(), [hosted.view])
    await client.host('c').send({ type: 'add', by: 3 })
    assert.is(hosted.snapshot.context.count, 3)
    assert.equal(await client.host('c').read(), hosted.view)
  })

  it('take an event once for one request of any client', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    const clients = [await connect(context, runtime), await connect(context, runtime)]
    for (const client of clients) await client.host('c').send({ type: 'add', by: 1 }, { requestId: 'hook-1' })
    for (const client of clients) await client.host('c').send({ type: 'add', by: 10 })
    assert.is(hosted.snapshot.context.count, 21)
  })

  it('are opened for an event, and closed again', async (context) => {
    const { runtime, store } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    await hosted.close()
    const client = await connect(context, runtime)
    await Promise.all([1, 2, 3].map((by) => client.host('c').send({ type: 'add', by })))
    while (runtime.hosts().length > 0) await new Promise((resolve) => setImmediate(resolve))
    const again = await hostMachine(runtime, counter(), { id: 'c' })
    assert.is(again.snapshot.context.count, 6)
    assert.is((await recordsOf(store, 'c')).filter(({ type }) => type === 'host.event').length, 3)
  })

  it('are read as soon as something has happened', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    const client = await connect(context, runtime)
    const { seq } = hosted.view
    const read = client.host('c').read({ after: seq })
    await hosted.send({ type: 'add', by: 1 })
    assert.ok((await read).seq > seq)
  })

  it('tell what happened in words, from a record on, and when they came to their end', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, ending, { id: 'e' })
    const client = await connect(context, runtime)
    const first = await client.host('e').history()
    assert.equal(
      first.records.map(({ type, line }) => [type, line]),
      [['host.created', 'begins as ending, version 3']],
    )
    assert.equal({ ...first.host, seq: 0 }, { ...hosted.view, seq: 0 })
    const next = client.host('e').history({ after: first.host.seq })
    await hosted.send({ type: 'note' })
    const { host, records } = await next
    assert.equal(
      records.map(({ line }) => line),
      ['note'],
    )
    assert.ok(host.seq >= records[0]!.seq && records[0]!.seq > first.host.seq)
    await hosted.send({ type: 'finish' })
    await hosted.done
    assert.equal(
      (await client.hosts()).map(({ id, status }) => [id, status]),
      [['e', 'done']],
    )
    assert.equal(runtime.hosts(), [])
    const whole = await client.host('e').history()
    assert.equal(
      whole.records.map(({ line }) => line),
      ['begins as ending, version 3', 'note', 'finish', 'done'],
    )
  })

  it('have at most 200 records told at once, the newest', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    await Promise.all(Array.from({ length: 150 }, async () => await hosted.send({ type: 'add', by: 1 })))
    await hosted.close()
    await hostMachine(runtime, counter(), { id: 'c' })
    const client = await connect(context, runtime)
    const { host, records } = await client.host('c').history()
    assert.ok(host.seq > 200)
    assert.ok(records.every(({ seq }) => seq > host.seq - 200))
    assert.is(records.at(-1)?.line, 'add')
  })

  it('have a chart, also once they came to their end, for those within reach', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, ending, { id: 'e' })
    const token = 'a-secret-of-16-chars'
    const { port } = await runtime.serve({ port: 0, tokens: { [token]: { role: 'drive', agents: ['e'] } } })
    const chartOf = async (id: string): Promise<[number, unknown]> => {
      const answer = await fetch(`http://127.0.0.1:${port}/agents/${id}/chart.json`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const { id: machine, code } = (await answer.json()) as { id?: string; code?: string }
      return [answer.status, machine ?? code]
    }
    assert.equal(await chartOf('e'), [200, 'ending'])
    await hosted.send({ type: 'finish' })
    await hosted.done
    assert.equal(await chartOf('e'), [200, 'ending'])
    await hostMachine(runtime, counter(), { id: 'c' })
    assert.equal((await chartOf('c'))[0], 403)
  })

  it('are no agents in a list of sessions, and not at rest there while they are open', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    const client = await connect(context, runtime)
    const listed = async (running: boolean) =>
      (await client.sessions({ running })).sessions.map(({ agentId, kind, definition }) => [agentId, kind, definition])
    const line = ['c', 'machine', 'counter']
    assert.equal([await listed(true), await listed(false)], [[line], []])
    await hosted.close()
    assert.equal([await listed(true), await listed(false)], [[], [line]])
  })

  it('refuse what is not there, not known, or no event', async (context) => {
    const { runtime, store } = await begin(context)
    await (await hostMachine(runtime, counter(), { id: 'c' })).close()
    const { runtime: other } = await begin(context, store)
    const client = await connect(context, other)
    await assert.rejects(client.host('none').send({ type: 'add' }), failsWith('MACHINE_NOT_FOUND', 'no machine "none"'))
    await assert.rejects(client.host('c').read(), failsWith('MACHINE_NOT_FOUND', '"counter"', 'not known'))
    const waker = other.wake({ definitions: [], machines: [counter()] })
    assert.is((await client.host('c').read()).value, 'counting')
    await assert.rejects(client.host('c').send({ type: 'xstate.stop' }), failsWith('EVENT_INVALID'))
    await assert.rejects(client.host('c').send({} as never), failsWith('BRIDGE_FRAME', 'event.type'))
    await waker.close()
  })

  it('are driven by those who may, within their reach', async (context) => {
    const { runtime } = await begin(context)
    await hostMachine(runtime, counter(), { id: 'c' })
    const observer = await connect(context, runtime, { role: 'observe' })
    assert.is((await observer.hosts()).length, 1)
    await assert.rejects(observer.host('c').send({ type: 'add', by: 1 }), failsWith('BRIDGE_FORBIDDEN', '"control"'))
    await hostMachine(runtime, counter(), { id: 'd' })
    const limited = await serveWith(context, runtime)
    assert.equal(
      (await limited.hosts()).map(({ id }) => id),
      ['d'],
    )
    await limited.host('d').send({ type: 'add', by: 1 })
    await assert.rejects(limited.host('c').send({ type: 'add', by: 1 }), failsWith('BRIDGE_FORBIDDEN'))
    await assert.rejects(limited.host('c').read(), failsWith('BRIDGE_FORBIDDEN'))
    const talker = await connect(context, runtime, { role: 'talk' })
    await assert.rejects(talker.hosts(), failsWith('BRIDGE_FORBIDDEN', 'see.all'))
    await assert.rejects(talker.host('c').read(), failsWith('BRIDGE_FORBIDDEN', 'see.all'))
  })
})

describe('machines that an engine places', (it) => {
  it('are read from their logs and not opened, and their events go to the engine', async (context) => {
    const { runtime } = await begin(context)
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    const { view } = hosted
    await hosted.close()
    const sent: unknown[] = []
    const none = async (): Promise<never> => assert.unreachable('no agent is commanded')
    const event = async (...what: unknown[]): Promise<void> => void sent.push(what)
    const { port } = await runtime.serve({ port: 0, dispatch: { command: none, begin: none, event } })
    const client = connectTo(`ws://127.0.0.1:${port}/bridge`)
    context.cleanup(() => client.close())
    await client.host('c').send({ type: 'add', by: 1 }, { requestId: 'r1' })
    assert.equal(sent, [[{ hostId: 'c', event: { type: 'add', by: 1 } }, 'r1']])
    const read = await client.host('c').read()
    assert.equal({ ...read, seq: 0 }, { ...view, seq: 0 })
    assert.equal(runtime.hosts(), [])
    // Whoever has it writes: that is seen by the next record.
    const news = client.host('c').read({ after: read.seq })
    const again = await hostMachine(runtime, counter(), { id: 'c' })
    await again.send({ type: 'add', by: 1 })
    assert.ok((await news).seq > read.seq)
    await assert.rejects(client.host('d').read(), failsWith('MACHINE_NOT_FOUND'))
  })
})

import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { bareWorker, relayTo, rpc, until, world } from './socketWorld.ts'

describe('a socket of another protocol behind a gateway', (it) => {
  const abort = { threadId: 'a0', runId: 'stop', forwardedProps: { command: 'abort' } }

  it('holds back what aborts a thread until its runs have begun, and counts as begun what was answered or never will be', async (context) => {
    const ends: readonly (readonly [what: string, how: (one: Awaited<ReturnType<typeof bareWorker>>) => void])[] = [
      ['is answered', (one) => one.say({ type: 'RUN_STARTED', runId: 'r1' })],
      ['cannot be read', (one) => one.say({ type: 'RUN_ERROR' })],
      ['is answered as a chat', (one) => one.say({ type: 'start', requestId: 'r1' })],
    ]
    for (const [, how] of ends) {
      const { one, client } = await world(context)
      client.say({ threadId: 'a0', runId: 'r1' })
      client.say(abort)
      await until(() => one.heard.length === 1)
      // There and back, by which it would have come.
      one.say({ type: 'RUN_STARTED', runId: 'of another' })
      await until(() => client.sent().length === 1)
      assert.is(one.heard.length, 1)
      how(one)
      await until(() => one.heard.length === 2)
      assert.equal([one.heard[1], client.beginnings.size], [abort, 0])
    }
  })

  it('counts as begun what was answered by either of its ids', async (context) => {
    const { one, client } = await world(context)
    client.say({ threadId: 'a0', runId: 'r1', requestId: 'q1' })
    await until(() => one.heard.length === 1)
    one.say({ type: 'start', requestId: 'q1' })
    await until(() => client.sent().length === 1)
    assert.is(client.beginnings.size, 0)
  })

  it('leaves nothing that is waited for, once its worker or its client has gone', async (context) => {
    for (const who of ['worker', 'client'] as const) {
      const { one, client } = await world(context)
      client.say({ threadId: 'a0', runId: 'r1' })
      await until(() => one.heard.length === 1)
      assert.is(client.beginnings.size, 1)
      if (who === 'worker') one.cut()
      else client.leave()
      await until(() => client.beginnings.size === 0)
    }
  })

  const named: readonly (readonly [what: string, frame: (id: string) => object])[] = [
    ['a session', (id) => rpc('session/prompt', id, 1)],
    ['a thread', (threadId) => ({ threadId })],
    ['a chat', (id) => ({ type: 'send', id })],
    ['a thread and the chat of the same name', (id) => ({ threadId: id, id })],
  ]
  for (const [what, frame] of named)
    it(`takes what names ${what} to its worker, as its client`, async (context) => {
      const { one, other, client } = await world(context)
      client.say(frame('a1'))
      client.say(frame('a0'))
      await until(() => one.heard.length === 1 && other.heard.length === 1)
      assert.equal([one.heard, other.heard], [[frame('a0')], [frame('a1')]])
      const [request] = other.asked
      assert.equal([request?.url, request?.headers.authorization], ['/acp', `Bearer token for ${other.url}`])
    })

  it('takes what names nobody to the worker that was spoken to last, and at first to any', async (context) => {
    const { one, other, client } = await world(context)
    for (const frame of [rpc('a'), rpc('b', 'a1'), rpc('c'), { id: 7, d: true }, 'nonsense', rpc('e', '../no id')])
      client.say(frame === 'nonsense' ? '"nonsense"' : frame)
    await until(() => other.heard.length === 5)
    assert.equal(
      one.heard.map(({ method }) => method),
      ['a'],
    )
    assert.equal(
      other.heard.map((frame) => frame['method'] ?? frame['d'] ?? frame),
      ['b', 'c', true, 'nonsense', 'e'],
    )
  })

  it('takes messages of a request to where it began', async (context) => {
    const { one, other, client } = await world(context)
    client.say({ type: 'send', requestId: 'r1', id: 'a1' })
    client.say({ type: 'send', requestId: 'r2', id: 'a0' })
    client.say({ type: 'cancel', requestId: 'r1' })
    client.say({ type: 'cancel', requestId: 'r2' })
    await until(() => one.heard.length === 2 && other.heard.length === 2)
    assert.equal(
      [one, other].map(({ heard }) => heard.map(({ requestId }) => requestId)),
      [
        ['r2', 'r2'],
        ['r1', 'r1'],
      ],
    )
  })

  it('ends where it cannot be known whom a message is for', async (context) => {
    for (const [urls, frame, reason] of [
      [2, { threadId: 'a0', id: 'a1' }, /two|both|one/i],
      [2, { threadId: 'a7' }, 'a7 is nowhere'],
      [0, rpc('initialize'), 'there is no worker'],
    ] as const) {
      const workers = [await bareWorker(context), await bareWorker(context)].slice(0, urls)
      const client = relayTo(workers.map(({ url }) => url))
      context.cleanup(() => client.leave())
      client.say(frame)
      await until(() => client.closed.length > 0)
      assert.equal(
        client.closed.map(({ code }) => code),
        [closeCodes.stuck],
      )
      assert.match(client.closed[0]!.reason, reason)
    }
  })

  it('tells no client that leaves meanwhile whom a message was for, and connects it with nobody', async (context) => {
    for (const id of ['a0', 'a7']) {
      const one = await bareWorker(context)
      const looked = Promise.withResolvers<void>()
      const client = relayTo([one.url], { looked: looked.promise })
      client.say({ threadId: id })
      await new Promise((resolve) => setImmediate(resolve))
      client.leave()
      looked.resolve()
      await new Promise((resolve) => setImmediate(resolve))
      const other = relayTo([one.url])
      context.cleanup(() => other.leave())
      other.say({ threadId: 'a0' })
      await until(() => one.heard.length > 0)
      assert.equal([client.closed, one.asked.length], [[], 1])
    }
  })

  it('is told no path of this machine when the directory fails', async () => {
    const client = relayTo([], { looked: Promise.reject(new Error("ENOENT: no such file, open '/srv/agents.json'")) })
    client.say({ threadId: 'a0' })
    await until(() => client.closed.length > 0)
    assert.is(client.closed[0]!.reason, "ENOENT: no such file, open '…'")
  })

  it('remembers where the newest 1,000 requests began', async (context) => {
    const { one, other, client } = await world(context)
    for (let count = 0; count <= 1_000; count += 1) {
      client.say({ type: 'send', requestId: `r${count}`, id: 'a1' })
      if (count % 50 === 49) await until(() => other.heard.length === count + 1)
    }
    client.say({ type: 'send', requestId: 'last', id: 'a0' })
    await until(() => one.heard.length === 1)
    client.say({ type: 'cancel', requestId: 'r2' })
    client.say({ type: 'send', id: 'a0' })
    client.say({ type: 'cancel', requestId: 'r0' })
    await until(() => one.heard.length === 3 && other.heard.length === 1_002)
    assert.equal([one.heard.at(-1)?.['requestId'], other.heard.at(-1)?.['requestId']], ['r0', 'r2'])
  })

  it('has every worker hear how it began, before anything else, and the client one answer', async (context) => {
    const { one, other, client } = await world(context)
    client.say(rpc('initialize', undefined, 1))
    client.say(rpc('authenticate', undefined, 2))
    await until(() => one.heard.length === 2)
    one.say({ jsonrpc: '2.0', id: 1, result: 'welcome' })
    one.say({ jsonrpc: '2.0', id: 2, result: 'known' })
    client.say(rpc('session/load', 'a1', 3))
    client.say(rpc('session/prompt', 'a1', 4))
    await until(() => other.heard.length >= 2 && client.texts.length === 2)
    other.say({ jsonrpc: '2.0', id: 1, result: 'welcome too' })
    other.say({ jsonrpc: '2.0', method: 'note' })
    await until(() => client.texts.length === 3)
    assert.equal(
      other.heard.map(({ method }) => method),
      ['initialize', 'authenticate'],
    )
    other.say({ jsonrpc: '2.0', id: 2, result: 'known too' })
    await until(() => other.heard.length === 4)
    assert.equal(
      other.heard.slice(2).map(({ method }) => method),
      ['session/load', 'session/prompt'],
    )
    other.say({ jsonrpc: '2.0', id: 3, result: 'loaded' })
    await until(() => client.texts.length === 4)
    assert.equal(
      client.sent().map(({ result, method }) => result ?? method),
      ['welcome', 'known', 'note', 'loaded'],
    )
  })

  it('hears what a worker asks under the number of its own beginning', async (context) => {
    const { one, other, client } = await world(context)
    client.say(rpc('initialize', undefined, 0))
    await until(() => one.heard.length === 1)
    client.say(rpc('session/load', 'a1', 1))
    await until(() => other.heard.length === 1)
    other.say({ jsonrpc: '2.0', id: 0, method: 'ask' })
    await until(() => client.texts.length === 1)
    assert.equal([client.sent()[0]?.['method'], other.heard.length], ['ask', 1])
    other.say({ jsonrpc: '2.0', id: 0, result: 'welcome' })
    await until(() => other.heard.length === 2)
    assert.is(client.texts.length, 1)
  })

  it('keeps the newest 16 of its beginnings', async (context) => {
    const { one, other, client } = await world(context)
    for (let id = 1; id <= 18; id += 1) client.say(rpc('authenticate', undefined, id))
    await until(() => one.heard.length === 18)
    client.say(rpc('session/load', 'a1', 99))
    await until(() => other.heard.length === 16)
    assert.equal([other.heard[0]?.['id'], other.heard.at(-1)?.['id']], [3, 18])
  })

  it('takes answers to whoever asked, under its own id, each once, and no other', async (context) => {
    const { one, other, client } = await world(context)
    client.say(rpc('x', 'a0'))
    client.say(rpc('x', 'a1'))
    await until(() => one.heard.length === 1 && other.heard.length === 1)
    for (const worker of [one, other]) {
      worker.say({ jsonrpc: '2.0', id: 0, method: 'ask', params: { of: worker === one ? 'one' : 'other' } })
      await until(() => client.texts.length === (worker === one ? 1 : 2))
    }
    const [first, second] = client.sent()
    assert.is.not(first?.['id'], second?.['id'])
    assert.equal(first?.['params'], { of: 'one' })
    const answer = (id: unknown, result: string) => client.say({ jsonrpc: '2.0', id, result })
    answer(first?.['id'], 'yes')
    // Asked by nobody, answered before, or by the id that a worker knows.
    for (const id of [first?.['id'], 0, 'gateway-99', null]) answer(id, 'again')
    answer(second?.['id'], 'no')
    client.say(rpc('last', 'a0'))
    client.say(rpc('last', 'a1'))
    await until(() => one.heard.length >= 3 && other.heard.length >= 3)
    assert.equal(one.heard.slice(1), [{ jsonrpc: '2.0', id: 0, result: 'yes' }, rpc('last', 'a0')])
    assert.equal(other.heard.slice(1), [{ jsonrpc: '2.0', id: 0, result: 'no' }, rpc('last', 'a1')])
  })

  it('remembers the newest 1,000 questions of workers', async (context) => {
    const { one, client } = await world(context)
    client.say(rpc('x', 'a0'))
    await until(() => one.heard.length === 1)
    for (let id = 0; id <= 1_000; id += 1) one.say({ jsonrpc: '2.0', id, method: 'ask' })
    await until(() => client.texts.length === 1_001)
    for (const { id } of client.sent().slice(0, 2)) client.say({ jsonrpc: '2.0', id, result: null })
    client.say(rpc('last', 'a0'))
    await until(() => one.heard.length >= 3)
    assert.equal(one.heard.slice(1), [{ jsonrpc: '2.0', id: 1, result: null }, rpc('last', 'a0')])
  })

  it('takes notifications and what is no JSON-RPC as they are', async (context) => {
    const { one, client } = await world(context)
    client.say(rpc('x', 'a0'))
    await until(() => one.heard.length === 1)
    const said = ['{"jsonrpc" : "2.0","method":"note"}', '{"id" : 1,"method":"event"}', 'no JSON of "jsonrpc"']
    for (const text of said) one.say(text)
    await until(() => client.texts.length === said.length)
    assert.equal(client.texts, said)
  })

  it('is closed when more waits than may', async (context) => {
    const { client } = await world(context, { waiting: 3 })
    for (let count = 0; count < 3; count += 1) client.say(rpc('x', 'a0'))
    assert.equal(client.closed, [])
    client.say(rpc('x', 'a0'))
    assert.equal(client.closed, [{ code: closeCodes.flooded, reason: 'too many messages' }])
  })

  it('may say more once what waited is taken', async (context) => {
    const { one, client } = await world(context, { waiting: 2 })
    for (let count = 1; count <= 5; count += 1) {
      client.say(rpc('x', 'a0'))
      await until(() => one.heard.length === count)
    }
    assert.equal(client.closed, [])
  })

  it('ends with a worker: for a reason of its own, or to come back', async (context) => {
    const away = { code: closeCodes.stuck, reason: 'the worker is gone: try again' }
    for (const [code, expected] of [
      [4_000, { code: 4_000, reason: 'why' }],
      [4_999, { code: 4_999, reason: 'why' }],
      [3_999, away],
      [1_000, away],
    ] as const) {
      const { one, client } = await world(context)
      client.say(rpc('x', 'a0'))
      await until(() => one.heard.length === 1)
      one.close(code, 'why')
      await until(() => client.closed.length > 0)
      assert.equal([client.closed, client.lost], [[expected], []])
    }
  })

  it('tells of a worker that cannot be reached', async (context) => {
    const { url } = await bareWorker(context)
    const port = 1
    const gone = `ws://127.0.0.1:${port}/bridge`
    const client = relayTo([gone, url])
    client.say(rpc('x', 'a0'))
    await until(() => client.closed.length > 0)
    assert.is(client.closed[0]?.code, closeCodes.stuck)
    assert.match(client.lost.join(), `${gone} `)
  })

  it('leaves its workers with its client, and says nothing more', async (context) => {
    const { one, other, client } = await world(context)
    client.say(rpc('x', 'a0'))
    await until(() => one.heard.length === 1)
    client.say(rpc('x', 'a1'))
    client.leave()
    client.say(rpc('x', 'a1'))
    await until(() => one.codes.length === 1)
    assert.equal([one.codes, other.asked.length, client.closed, client.lost], [[1_000], 0, [], []])
  })

  it('has a worker wait for a client that reads slowly, and for no other', async (context) => {
    const { one, client } = await world(context, { highWaterBytes: 10 })
    client.say(rpc('x', 'a0'))
    await until(() => one.heard.length === 1)
    client.socket.bufferedAmount = 10
    one.say({ n: 1 })
    await until(() => client.texts.length === 1)
    one.say({ n: 2 })
    await until(() => client.texts.length === 2)
    client.socket.bufferedAmount = 11
    one.say({ n: 3 })
    await until(() => client.texts.length === 3)
    one.say({ n: 4 })
    client.say(rpc('y', 'a0'))
    await until(() => one.heard.length === 2)
    await new Promise((resolve) => setImmediate(resolve))
    assert.is(client.texts.length, 3)
    client.socket.bufferedAmount = 0
    client.drain()
    await until(() => client.texts.length === 4)
  })
})

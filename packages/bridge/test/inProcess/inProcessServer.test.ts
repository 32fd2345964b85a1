import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { isLogged, type AgentEvent } from '../../../../src/protocol/events.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { InProcessServer } from '../../src/inProcess/inProcessServer.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/client/connect.ts'
import { brakedAgents } from '../../../page/test/inspector/brakedAgents.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from '../server/bridgeHarness.ts'

const echo = defineAgent({
  name: 'echo',
  model: policyModel(({ messages }) => `You said: ${textOf(messages.at(-1)!.content)}`),
})

const isCode =
  (code: string) =>
  (thrown: unknown): boolean =>
    (thrown as { readonly code?: string }).code === code

async function runtimeOf({ cleanup }: Pick<CaseContext, 'cleanup'>) {
  const runtime = await createRuntime()
  cleanup(() => runtime.close())
  return runtime
}

describe('runtime.connect', (it) => {
  it('gives a client that is ready, and drives agents without a port', async (context) => {
    const runtime = await runtimeOf(context)
    const client = await runtime.connect({ definitions: [echo] })
    assert.is(client.status, 'open')
    assert.equal(client.definitions, ['echo'])
    const agent = await client.spawn('echo', { id: 'e1' })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    assert.is((await agent.prompt('hello').result).text, 'You said: hello')
    assert.ok(runtime.agent('e1') !== undefined)
    assert.ok(events.some(({ type }) => type === 'reply.delta'))
  })

  it('gives several, which see each other’s agents', async (context) => {
    const runtime = await runtimeOf(context)
    const [one, other] = await Promise.all([runtime.connect({ definitions: [echo] }), runtime.connect()])
    await one.spawn('echo', { id: 'e1' })
    assert.equal(
      (await other.agents()).agents.map(({ agentId }) => agentId),
      ['e1'],
    )
    one.close()
    assert.is((await other.agent('e1').prompt('still there?').result).text, 'You said: still there?')
  })

  it('lets a client do only what its role allows', async (context) => {
    const runtime = await runtimeOf(context)
    const client = await runtime.connect({ definitions: [echo], role: 'observe' })
    assert.is(client.role, 'observe')
    await assert.rejects(client.spawn('echo'), isCode('BRIDGE_FORBIDDEN'))
  })

  it('gives agents what they need of the application', async (context) => {
    const runtime = await runtimeOf(context)
    const asked: string[] = []
    const client = await runtime.connect({ definitions: [echo], deps: ({ id }) => asked.push(id) })
    await client.spawn('echo', { id: 'e1' })
    assert.equal(asked, ['e1'])
  })

  it('refuses options that are none, and a runtime that is closed', async (context) => {
    const runtime = await runtimeOf(context)
    await assert.rejects(runtime.connect({ port: 1 } as never), /^connect: .*port/)
    await runtime.close()
    await assert.rejects(runtime.connect(), isCode('RUNTIME_CLOSED'))
  })

  it('is over with the runtime, and what waits then fails', async () => {
    const runtime = await createRuntime()
    const client = await runtime.connect({ definitions: [echo] })
    const agent = await client.spawn('echo')
    await runtime.close()
    assert.is(client.status, 'closed')
    await assert.rejects(agent.snapshot(), /The client is closed/)
  })

  it('sends the same frames as a server does over a socket', { timeoutMs: 10_000 }, async (context) => {
    const prompts = async (client: Client): Promise<object> => {
      const boss = await client.spawn('boss', { id: 'boss-1' })
      const heard: AgentEvent[] = []
      boss.subscribe((event) => {
        heard.push(event)
        if (event.type === 'approval.requested') void client.agent(event.agentId).decide(event.key, 'approve')
      })
      const { text } = await boss.prompt('Go.').result
      const { nodes } = await boss.conversation()
      const own = heard.filter(({ agentId }) => agentId === 'boss-1')
      return JSON.parse(
        JSON.stringify({ text, nodes, events: own }, (key, value: unknown) => {
          // Sessions of clients and times differ from one to the next.
          if (key === 'requestId') return String(value).split('/').at(-1)
          return typeof value === 'number' && /^(time|at|ms|waitedMs|createdAt|firstTokenMs)$/.test(key) ? 0 : value
        }),
      ) as object
    }
    const { connect: dial } = await serveAgents(context, brakedAgents)
    const runtime = await runtimeOf(context)
    const overSocket = await prompts(dial())
    const inProcess = await prompts(await runtime.connect({ definitions: brakedAgents }))
    assert.equal(inProcess, overSocket)
  })
})

describe('a server for clients in this process', (it) => {
  it(
    'holds back a client that does not read, and catches it up from the log',
    { timeoutMs: 20_000 },
    async (context) => {
      const runtime = await runtimeOf(context)
      const words = Array.from({ length: 400 }, (_, index) => `word ${index} ${'x'.repeat(2_000)}`).join('\n')
      const long = defineAgent({ name: 'long', model: policyModel(() => words) })
      const limits = { highWaterBytes: 64 * 1024, hardLimitBytes: 64 * 1024 * 1024 }
      const client = await runtime.connect({ definitions: [long], limits })
      const agent = await client.spawn('long')
      const seqs: number[] = []
      agent.subscribe((event) => {
        if (isLogged(event)) seqs.push(event.seq)
      })
      for (let run = 0; run < 5; run += 1) assert.is((await agent.prompt('More.').result).text, words)
      assert.equal(
        seqs,
        seqs.toSorted((a, b) => a - b),
      )
      assert.is(new Set(seqs).size, seqs.length)
    },
  )

  it('closes one that floods it, and lets it come back', async () => {
    const clock = simulatedClock()
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock })
    const server = new InProcessServer(runtime, { store, clock }, { limits: { framesPerSecond: 10 } })
    const socket = new server.webSocket(server.url, [])
    const frames: ServerFrame[] = []
    const { promise: closed, resolve } = Promise.withResolvers<number>()
    socket.addEventListener('message', ({ data }: { readonly data: string }) =>
      frames.push(JSON.parse(data) as ServerFrame),
    )
    socket.addEventListener('close', ({ code }: { readonly code: number }) => resolve(code))
    socket.send(JSON.stringify({ type: 'hello' }))
    for (let count = 0; count < 20; count += 1) socket.send(JSON.stringify({ type: 'ping' }))
    assert.is(await closed, 4002)
    assert.is(server.bridge.connections.size, 0)
    const client = connect(server.url, { webSocket: server.webSocket, clock })
    await client.ready
    client.close()
    await server.close()
    await runtime.close()
  })

  it('renews what a client may send every second', async () => {
    const clock = simulatedClock()
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock })
    const server = new InProcessServer(runtime, { store, clock }, { limits: { framesPerSecond: 10 } })
    const socket = new server.webSocket(server.url, [])
    let closedWith: number | undefined
    socket.addEventListener('close', ({ code }: { readonly code: number }) => (closedWith = code))
    socket.send(JSON.stringify({ type: 'hello' }))
    for (let second = 0; second < 4; second += 1) {
      for (let count = 0; count < 8; count += 1) socket.send(JSON.stringify({ type: 'ping' }))
      // Each text comes in a turn of its own, and all of them before the second is over.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      assert.is(closedWith, undefined)
      await clock.advance(1_000)
    }
    assert.is(closedWith, undefined)
    await server.close()
    assert.is(closedWith, 1001)
    await runtime.close()
    assert.is(clock.pending, 0)
  })

  it('turns away whoever comes after it has closed', async () => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const server = new InProcessServer(runtime, { store, clock: systemClock })
    await Promise.all([server.close(), server.close()])
    const socket = new server.webSocket(server.url, [])
    const code = await new Promise((resolve) => {
      socket.addEventListener('close', (event: { readonly code: number }) => resolve(event.code))
    })
    assert.is(code, 1001)
    await runtime.close()
  })
})

import { WebSocket } from 'ws'
import { serveGateway } from '../../src/serveGateway.ts'
import type { GatewayOptions } from '../../src/gateway/gatewayOptions.ts'
import { FleetLists } from '../../src/gateway/fleetLists.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { dial, type Bare } from '../../../bridge/test/server/bridgeHarness.ts'
import { fakeWorker, welcome } from './fakeWorker.ts'
import { secret } from './fleet.ts'

/** Holds up what passes, from when it is told to until it is let go. */
function barrier() {
  let held: { readonly reached: PromiseWithResolvers<void>; readonly passed: PromiseWithResolvers<void> } | undefined
  return {
    async pass(): Promise<void> {
      held?.reached.resolve()
      await held?.passed.promise
    },
    /** Resolves once something is held up. */
    hold(): Promise<void> {
      held = { reached: Promise.withResolvers(), passed: Promise.withResolvers() }
      return held.reached.promise
    },
    /** Lets everything pass at once from now on and releases what is held up. */
    open(): () => void {
      const { passed } = held!
      held = undefined
      return () => passed.resolve()
    },
  }
}

/** A gateway before a worker that says yes to everything, and counts its connections; `found` holds up looks for workers. */
async function open(context: CaseContext, more: Partial<GatewayOptions> = {}) {
  const worker = await fakeWorker(context, (text) => {
    const { type, id, method } = JSON.parse(text) as { type?: string; id: unknown; method?: string }
    if (type === 'hello') return [welcome]
    return [
      method === undefined ? { type: 'ok', id, result: { agents: [], total: 0 } } : { jsonrpc: '2.0', id, result: {} },
    ]
  })
  const found = barrier()
  const workers = async (): Promise<string[]> => {
    await found.pass()
    return [worker.url]
  }
  const gateway = await serveGateway({ directory: () => undefined, workers, secret, endpoints: ['/acp'], ...more })
  context.cleanup(() => gateway.close())
  const enter = async (): Promise<Bare> => {
    const bare = await dial(gateway.url)
    context.cleanup(() => bare.socket.terminate())
    bare.send({ type: 'hello' })
    await bare.until(({ type }) => type === 'welcome')
    return bare
  }
  return { gateway, seen: worker.seen, found, enter }
}

const leave = async ({ socket, closed }: Bare): Promise<void> => {
  socket.close()
  await closed
}

describe('to a worker, for a client that has left meanwhile, a gateway opens no connection', (it) => {
  it('when it has found the workers to list agents of', async (context) => {
    const { seen, found, enter } = await open(context)
    const client = await enter()
    const isHeld = found.hold()
    client.send({ type: 'agent.list', id: 'l1' })
    await isHeld
    await leave(client)
    const letGo = found.open()
    await enter()
    letGo()
    await enter()
    assert.is(seen.connections, 3)
  })

  it('when it has looked up whether a command was within reach', async (context) => {
    const store = memoryStore()
    const read = barrier()
    const slow = {
      ...store,
      async *read(...range: Parameters<typeof store.read>) {
        await read.pass()
        yield* store.read(...range)
      },
    }
    const authenticate: GatewayOptions['authenticate'] = () => ({ role: 'admin', agents: () => true })
    const { seen, enter } = await open(context, { store: slow, authenticate })
    const client = await enter()
    const prompt = { type: 'agent.prompt', agentId: 'a1', content: 'hello' }
    assert.is((await client.ask(prompt)).type, 'ok')
    const isHeld = read.hold()
    client.send({ ...prompt, id: 'p2' })
    await isHeld
    await leave(client)
    const letGo = read.open()
    await enter()
    letGo()
    await enter()
    assert.is(seen.connections, 3)
  })

  it('when it has found one for the first message of another protocol', async (context) => {
    const { gateway, seen, found } = await open(context)
    const say = async (): Promise<WebSocket> => {
      const socket = new WebSocket(gateway.url.replace('/bridge', '/acp'))
      context.cleanup(() => socket.terminate())
      const isOpen = Promise.withResolvers<void>()
      socket.on('open', () => isOpen.resolve()).on('error', isOpen.reject)
      await isOpen.promise
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }))
      return socket
    }
    const answered = async (): Promise<void> => {
      const socket = await say()
      const { promise, resolve } = Promise.withResolvers<void>()
      socket.on('message', () => resolve())
      await promise
    }
    const isHeld = found.hold()
    const client = await say()
    await isHeld
    const closed = Promise.withResolvers<void>()
    client.on('close', () => closed.resolve())
    client.close()
    await closed.promise
    const letGo = found.open()
    await answered()
    letGo()
    await answered()
    assert.is(seen.connections, 2)
  })
})

describe('lists that were closed', (it) => {
  it('ask no worker that is found only then, and wait for none', async () => {
    const found = Promise.withResolvers<readonly string[]>()
    const clock = simulatedClock()
    const asked: string[] = []
    const lists = new FleetLists({
      workers: () => found.promise,
      clock,
      ask: (url) => `q${asked.push(url)}`,
      send: () => {},
      isNamed: true,
      isWithin: () => true,
    })
    lists.take({ type: 'agent.watch', id: 'c1' })
    const running = lists.running()
    lists.take({ type: 'agent.list', id: 'c2' })
    lists.close()
    const after = lists.running()
    found.resolve(['ws://one:4100/bridge', 'ws://other:4100/bridge'])
    assert.equal([...(await running), ...(await after)], [])
    await clock.advance(0)
    assert.equal([asked, clock.pending], [[], 0])
  })
})

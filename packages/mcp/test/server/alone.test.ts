import { assert, describe } from '../../../../test/support/suite.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { agentServer } from '../../src/server/agentServer.ts'
import { callAgent } from '../../src/server/callAgent.ts'
import { LegacySessions } from '../../src/server/legacySessions.ts'

type Handler = (request: object, ctx: object) => unknown

/** The SDK without its protocol. */
function fakeSdk() {
  const handlers = new Map<string, Handler>()
  const closed: string[] = []
  let last = 0
  class Server {
    setRequestHandler(method: string, handler: Handler): void {
      handlers.set(method, handler)
    }
    getClientCapabilities(): undefined {}
    async connect(): Promise<void> {}
  }
  class ProtocolError extends Error {
    constructor(_: number, message: string) {
      super(message)
    }
  }
  class WebStandardStreamableHTTPServerTransport {
    readonly id = `s${++last}`
    readonly #begun: (id: string) => void
    constructor({ onsessioninitialized }: { onsessioninitialized: (id: string) => void }) {
      this.#begun = onsessioninitialized
    }
    async handleRequest(request: Request): Promise<Response> {
      if (!request.headers.has('mcp-session-id')) this.#begun(this.id)
      return new Response(this.id)
    }
    async close(): Promise<void> {
      closed.push(this.id)
    }
  }
  const sdk = {
    Server,
    ProtocolError,
    ProtocolErrorCode: { InvalidParams: 1 },
    WebStandardStreamableHTTPServerTransport,
  }
  return { sdk, handlers, closed }
}

const tools = new Map([['worker', { definition: { name: 'worker' }, spec: { name: 'worker', description: 'secret' } }]])

describe('a server of MCP', (it) => {
  it('lists its tools for who may talk, and what they do for who may spawn', () => {
    for (const [rights, expected] of [
      [['talk', 'spawn'], [{ name: 'worker', description: 'secret' }]],
      [['talk'], [{ name: 'worker', description: 'An agent that is there already: name its session.' }]],
      [['spawn'], []],
      [[], []],
    ] as const) {
      const { sdk, handlers } = fakeSdk()
      const access = { may: (right: never) => rights.includes(right), knownDefinitions: ['worker'] }
      const use = { era: 'modern', visitOf: () => ({ access }) }
      agentServer({ sdk, name: 'x', tools, asksClient: false } as never, use as never)
      assert.equal(handlers.get('tools/list')!({}, {}), { tools: expected }, rights.join())
    }
  })

  it('is busy while a tool is called, and no longer, also where that fails', async () => {
    const { sdk, handlers } = fakeSdk()
    const changes: number[] = []
    const use = { era: 'legacy', visitOf: () => ({ access: {} }), busy: (change: number) => changes.push(change) }
    agentServer({ sdk, name: 'x', tools, asksClient: false } as never, use as never)
    const calling = handlers.get('tools/call')!({ params: { name: 'nobody' } }, { mcpReq: {} }) as Promise<unknown>
    assert.equal(changes, [1])
    await assert.rejects(calling, /There is no tool "nobody"/)
    assert.equal(changes, [1, -1])
  })
})

describe('connections of older clients', (it) => {
  it('are closed where there are too many, or after long, the one used longest ago first', async () => {
    const { sdk, closed } = fakeSdk()
    const clock = simulatedClock()
    const access = { clock, limits: { connections: 2, sessionMs: 1_000, frameBytes: 1, pingMs: 1 }, isLike: () => true }
    const sessions = new LegacySessions({ sdk, name: 'x', tools, asksClient: false } as never, undefined as never)
    const ask = async (id?: string): Promise<string> => {
      await clock.advance(1)
      const request = new Request('http://x', id === undefined ? {} : { headers: { 'mcp-session-id': id } })
      const answer = await sessions.answer(request, access as never, {} as never)
      return answer.ok ? await answer.text() : String(answer.status)
    }
    assert.equal([await ask(), await ask(), await ask('s1')], ['s1', 's2', 's1'])
    assert.equal([await ask(), closed], ['s3', ['s2']])
    assert.equal([await ask('s2'), await ask('s1')], ['404', 's1'])
    await clock.advance(999)
    assert.is(await ask('s1'), 's1')
    assert.equal([await ask(), closed], ['s4', ['s2', 's3']])
    await sessions.close()
    assert.equal([closed, await ask('s1')], [['s2', 's3', 's1', 's4'], '404'])
  })
})

describe('a connection of an older client', (it) => {
  const opened = (limits: object) => {
    const fake = fakeSdk()
    const clock = simulatedClock()
    const never = () => new Promise(() => {})
    const access = {
      clock,
      limits: { frameBytes: 1, pingMs: 1, ...limits },
      isLike: () => true,
      must: () => {},
      begin: never,
    }
    const tool = { definition: { name: 'worker' }, read: () => ({ type: 'task', text: 'x' }) }
    const parts = { sdk: fake.sdk, name: 'x', tools: new Map([['worker', tool]]), asksClient: false }
    const sessions = new LegacySessions(parts as never, (() => ({ access, isLeaving: false })) as never)
    const open = async (): Promise<string> =>
      (await sessions.answer(new Request('http://x'), access as never, {} as never)).text()
    return { ...fake, clock, open }
  }

  it('is not closed while a call is under way over it', async () => {
    const { open, handlers, closed, clock } = opened({ connections: 2, sessionMs: 1_000 })
    await open()
    const mcpReq = { signal: new AbortController().signal, requestState: () => undefined }
    void handlers.get('tools/call')!({ params: { name: 'worker' } }, { mcpReq })
    for (let count = 0; count < 2; count += 1) {
      await clock.advance(1)
      await open()
    }
    assert.equal(closed, ['s2'])
  })

  it('is closed once it was not used for longer than it may, and not a millisecond before', async () => {
    const { open, closed, clock } = opened({ connections: 9, sessionMs: 1_000 })
    await open()
    await clock.advance(1_000)
    await open()
    assert.equal(closed, [])
    await clock.advance(1)
    await open()
    assert.equal(closed, ['s1'])
  })
})

describe('a call that looks after a run', (it) => {
  it('stops listening to the agent once it is answered', async () => {
    for (const how of ['waiting', 'left']) {
      const listeners = new Set<(event: object) => void>()
      let isWaiting = false
      let open = 0
      const agent = {
        id: 's',
        definition: 'worker',
        path: [],
        lastSeq: 1,
        pause: null,
        state: 'running',
        wake: async () => {},
        durable: async () => {},
        tree: () => ({ state: isWaiting ? 'paused' : 'executing', children: [] }),
        pending: () => (isWaiting ? [{ kind: 'approval', key: 'k', agentId: 's' }] : []),
        subscribe: (listener: (event: object) => void) => {
          listeners.add(listener)
          return () => void listeners.delete(listener)
        },
        events: () => {
          open += 1
          const over = Promise.withResolvers<{ done: true; value: undefined }>()
          const leave = (): void => {
            open -= 1
            over.resolve({ done: true, value: undefined })
          }
          return { [Symbol.asyncIterator]: () => ({ next: () => over.promise }), return: leave }
        },
      }
      const access = {
        must: () => {},
        may: () => true,
        newId: () => 'r',
        driven: async () => agent,
        records: async function* () {
          yield { type: 'run.start', seq: 1, runId: 'run', requestId: 'r' }
        },
      }
      const client = new AbortController()
      const caller = { access, signal: client.signal, isCancelled: () => false, began: () => {}, tell: () => {} }
      const tool = { definition: { name: 'worker' } }
      const calling = callAgent(tool as never, { type: 'look', session: 's' } as never, caller as never, true)
      await quiet()
      assert.equal([listeners.size, open], [1, 1])
      if (how === 'left') client.abort()
      else {
        isWaiting = true
        for (const listener of listeners) listener({ type: 'state.changed' })
      }
      await calling
      await quiet()
      assert.equal([listeners.size, open], [0, 0], how)
    }
  })
})

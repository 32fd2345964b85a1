import { RuntimeError } from '../../../src/protocol/errors.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { limitsOf } from '../../bridge/src/server/limits.ts'
import { openAcp } from '../src/openAcp.ts'

interface Said {
  readonly id?: number
  readonly result?: object
  readonly error?: { readonly code: number; readonly message: string; readonly data: object }
}

/** A client of agents that do nothing, and what was done to each. */
function connected({ may = true, subscriptions = 1 } = {}) {
  const done: string[] = []
  const listening = new Map<string, number>()
  const agentOf = (id: string) => ({
    id,
    definition: 'worker',
    path: id.includes('.') ? ['s'] : [],
    conversation: { trunk: () => [], log: () => [], abandoned: () => [] },
    pending: () => [],
    abort: () => void done.push(`abort ${id}`),
    subscribe: () => {
      listening.set(id, (listening.get(id) ?? 0) + 1)
      return () => void listening.set(id, listening.get(id)! - 1)
    },
  })
  const access = {
    limits: limitsOf({ subscriptions }),
    may: () => may,
    rights: new Set(),
    knownDefinitions: [],
    reading: async (id: string) => {
      if (id === 'broken') throw new RuntimeError('STORE_READ_FAILED', 'could not read "/home/somebody/logs/a.jsonl"')
      return agentOf(id)
    },
  }
  const [toAgent, toClient] = [new TransformStream<object>(), new TransformStream<object>()]
  const stream = { readable: toAgent.readable, writable: toClient.writable }
  const connection = openAcp(stream, access as never)
  const [writer, reader] = [toAgent.writable.getWriter(), toClient.readable.getReader()]
  let last = 0
  const tell = (method: string, params: object): Promise<void> => writer.write({ jsonrpc: '2.0', method, params })
  async function ask(method: string, params: object): Promise<Said> {
    const id = ++last
    await writer.write({ jsonrpc: '2.0', id, method, params })
    for (;;) {
      const { value } = await reader.read()
      if ((value as Said | undefined)?.id === id) return value as Said
    }
  }
  const begun = ask('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const resume = async (sessionId: string): Promise<Said> => {
    await begun
    return await ask('session/resume', { sessionId, cwd: '/', mcpServers: [] })
  }
  return { done, listening, connection, writer, tell, ask, resume }
}

describe('a connection of ACP', (it) => {
  it('opens as many sessions as it may, and one that is open there already again', async () => {
    const { resume, listening } = connected()
    assert.is((await resume('s')).error, undefined)
    assert.is((await resume('s')).error, undefined)
    assert.equal((await resume('t')).error?.data, { code: 'BRIDGE_LIMIT', sessionId: 't' })
    assert.equal([...listening], [['s', 1]])
  })

  it('opens no sub-agent, and tells no path of the server', async () => {
    const { resume } = connected()
    assert.match((await resume('s.1')).error!.message, 'sub-agent')
    const { error } = await resume('broken')
    assert.equal([error?.code, error?.data], [-32_603, { code: 'STORE_READ_FAILED', sessionId: 'broken' }])
    assert.match(error!.message, /^The log could not be read\./)
  })

  it('that is over listens to no agent any more', async () => {
    const { resume, listening, connection } = connected({ subscriptions: 2 })
    await resume('s')
    await resume('t')
    assert.equal([...listening.values()], [1, 1])
    connection.close()
    await connection.closed
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal([...listening.values()], [0, 0])
  })

  it('cancels what is open here, for who may talk', async () => {
    for (const may of [true, false]) {
      const { resume, tell, done } = connected({ may })
      await resume('s')
      await tell('session/cancel', { sessionId: 's' })
      await tell('session/cancel', { sessionId: 'other' })
      // What is asked after that is answered after it.
      await resume('s')
      assert.equal(done, may ? ['abort s'] : [])
    }
  })
})

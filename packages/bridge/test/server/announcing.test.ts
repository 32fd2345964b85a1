import { createServer } from 'node:http'
import { once } from 'node:events'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** A store that notes what is announced in it. */
function listening(fails = false) {
  const said: (string | undefined)[] = []
  const store: Store = {
    ...memoryStore(),
    announce: async (url) => {
      said.push(url)
      if (fails) throw new Error('the disk is full')
    },
  }
  return { store, said }
}

describe('a server', (it) => {
  it('announces in the store where it listens, and takes that back when it closes', async ({ cleanup }) => {
    const { store, said } = listening()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const server = await runtime.serve({ path: '/agents' })
    assert.equal(said, [server.url])
    await server.close()
    await server.close()
    assert.equal(said, [server.url, undefined])
  })

  it('announces what it is told to, or nothing', async ({ cleanup }) => {
    const { store, said } = listening()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    await runtime.serve({ advertise: false })
    assert.equal(said, [])
    await runtime.serve({ advertise: 'wss://worker-1.internal/agents/bridge' })
    assert.equal(said, ['wss://worker-1.internal/agents/bridge'])
    for (const advertise of ['', 'worker-1', 'http://worker-1/bridge', 5])
      await assert.rejects(runtime.serve({ advertise } as object), withCode('INVALID_OPTION', 'advertise'))
  })

  it('of several on one store takes back its own only', async ({ cleanup }) => {
    const { store, said } = listening()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const [first, second] = [await runtime.serve(), await runtime.serve()]
    await first.close()
    assert.is(said.at(-1), second.url)
    const third = await runtime.serve()
    await third.close()
    assert.is(said.at(-1), second.url)
    await second.close()
    assert.is(said.at(-1), undefined)
  })

  it('on a server of one’s own announces once that listens', async ({ cleanup }) => {
    const { store, said } = listening()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const own = createServer()
    const server = await runtime.serve({ server: own })
    assert.equal(said, [])
    own.listen(0, '127.0.0.1')
    cleanup(() => void own.close())
    await once(own, 'listening')
    assert.equal(said, [server.url])
    await server.close()
    assert.equal(said.length, 2)
  })

  it('serves also where the store fails to keep it, and says so in its log', async ({ cleanup }) => {
    const { store } = listening(true)
    const lines: string[] = []
    const warn = (_: object, message: string): void => void lines.push(message)
    const none = (): void => {}
    const runtime = await createRuntime({ store, logger: { debug: none, info: none, warn, error: none } })
    cleanup(() => runtime.close())
    const server = await runtime.serve()
    assert.match(server.url, /^ws:/)
    assert.match(lines.join('\n'), /the disk is full/)
  })
})

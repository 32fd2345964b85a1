import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { Readiness } from '../../src/operations/readiness.ts'
import { serveOperations } from '../../src/operations/serveOperations.ts'

/** A store that answers, fails, or hangs, as a case says; it counts how often it was read. */
function storeThat() {
  const state: { mood: 'well' | 'broken' | 'hangs'; holds: boolean; reads: number } = {
    mood: 'well',
    holds: true,
    reads: 0,
  }
  async function* read(): AsyncGenerator<LogRecord> {
    state.reads += 1
    if (state.mood === 'broken') throw new Error('it is gone')
    if (state.mood === 'hangs') await new Promise(() => {})
    yield* []
  }
  return { state, store: { ...memoryStore(), read, holds: () => state.holds } }
}

function ready() {
  const clock = simulatedClock()
  const { state, store } = storeThat()
  return { clock, state, readiness: new Readiness(store, clock) }
}

async function served(
  { cleanup }: CaseContext,
  readiness: Readiness,
  metrics: Parameters<typeof serveOperations>[0]['metrics'],
) {
  const server = await serveOperations({ port: 0, readiness, metrics })
  cleanup(() => server.close())
  return async (path: string, method = 'GET') => {
    const response = await fetch(`${server.url}${path}`, { method })
    return [response.status, (await response.text()).trim()]
  }
}

describe('the readiness of a program', (it) => {
  it('begins once it serves, and ends for good when it is told to end', async () => {
    const { readiness } = ready()
    assert.match((await readiness.trouble()) ?? '', /starting/)
    assert.is(readiness.isReady, false)
    readiness.serves()
    assert.is(await readiness.trouble(), undefined)
    assert.is(readiness.isReady, true)
    readiness.leaves()
    readiness.serves()
    assert.match((await readiness.trouble()) ?? '', /about to end/)
    assert.is(readiness.isReady, false)
  })

  it('is that of its store, which is asked once a second however many ask', async () => {
    const { clock, state, readiness } = ready()
    readiness.serves()
    await Promise.all([readiness.trouble(), readiness.trouble()])
    assert.is(await readiness.trouble(), undefined)
    assert.is(state.reads, 1)
    state.mood = 'broken'
    await clock.advance(1_000)
    assert.match((await readiness.trouble()) ?? '', /cannot be read: it is gone/)
    assert.is(readiness.isReady, false)
    state.mood = 'hangs'
    await clock.advance(1_000)
    const asked = readiness.trouble()
    await quiet()
    await clock.advance(2_000)
    assert.match((await asked) ?? '', /has not answered within 2000 ms/)
    state.mood = 'well'
    await clock.advance(1_000)
    assert.is(await readiness.trouble(), undefined)
    assert.is(state.reads, 4)
    state.holds = false
    assert.match((await readiness.trouble()) ?? '', /leases/)
    assert.is(readiness.isReady, false)
  })
})

describe('the port for those who operate a program', (it) => {
  it('says whether it lives and is ready, and has its metrics', async (context) => {
    const { readiness } = ready()
    const ask = await served(context, readiness, (_, response) => void response.end('agents 1'))
    assert.equal(await ask('/livez'), [200, 'ok'])
    assert.equal(await ask('/readyz'), [503, 'it is starting'])
    readiness.serves()
    assert.equal(await ask('/readyz?verbose'), [200, 'ok'])
    assert.equal(await ask('/metrics'), [200, 'agents 1'])
    assert.is((await ask('/'))[0], 404)
    assert.is((await ask('/metrics', 'POST'))[0], 405)
  })

  it('says why there are no metrics, and that its port is taken', async (context) => {
    const { readiness } = ready()
    const ask = await served(context, readiness, 'npm install it')
    assert.equal(await ask('/metrics'), [501, 'npm install it'])
    const one = await serveOperations({ port: 0, readiness, metrics: '' })
    context.cleanup(() => one.close())
    await assert.rejects(
      serveOperations({ port: Number(new URL(one.url).port), readiness, metrics: '' }),
      withCode('BRIDGE_LISTEN_FAILED'),
    )
  })
})

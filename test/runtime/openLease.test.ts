import { RuntimeError } from '../../src/protocol/errors.ts'
import type { Store, StoreLease } from '../../src/protocol/ports/store.ts'
import { openLease } from '../../src/runtime/openLease.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../support/suite.ts'

describe('opening the log of an agent', (it) => {
  const locked = new RuntimeError('STORE_LOCKED', 'somebody has it')
  const lease = (released: string[]) =>
    ({ agentId: 'a', lastSeq: 0, release: async () => void released.push('released') }) as unknown as StoreLease

  it('waits for one that is locked as long as it may, and leaves nothing open', async () => {
    for (const wait of [0, 100])
      for (const freeAt of [0, 50, 100, 101, Infinity])
        for (const closedAt of [Infinity, 30])
          for (const holder of ['none', 'nobody', 'here', 'elsewhere', 'fails'] as const) {
            const clock = simulatedClock(0)
            const released: string[] = []
            let opens = 0
            const store = {
              open: async () => {
                opens += 1
                if (clock.now() < freeAt) throw locked
                return lease(released)
              },
              ...(holder === 'none'
                ? {}
                : {
                    holder: async () => {
                      if (holder === 'fails') throw new Error('cannot say')
                      if (holder === 'nobody') return undefined
                      return { isHere: holder === 'here', words: 'process 7', url: 'http://x', epoch: 3 }
                    },
                  }),
            } as unknown as Store
            const checkOpen = (): void => {
              if (clock.now() >= closedAt) throw new RuntimeError('RUNTIME_CLOSED', 'closed')
            }
            const opening = openLease(store, 'a', { wait }, { clock, checkOpen }).then(
              () => 'open',
              (thrown: unknown) => (thrown as RuntimeError).code,
            )
            await clock.advance(1_000)
            const isFree = freeAt <= wait
            const isClosed = closedAt <= Math.min(wait, freeAt)
            const label = JSON.stringify({ wait, freeAt, closedAt, holder })
            const refused = holder === 'elsewhere' ? 'AGENT_ELSEWHERE' : 'STORE_LOCKED'
            const expected = isClosed ? 'RUNTIME_CLOSED' : isFree ? 'open' : refused
            assert.is(await opening, expected, label)
            assert.ok(opens >= 1)
            assert.equal([clock.pending, released.length <= 1], [0, true], label)
          }
  })

  it('releases what it got when the runtime was closed meanwhile, and rejects with anything else at once', async () => {
    const released: string[] = []
    let isClosed = false
    const checkOpen = (): void => {
      if (isClosed) throw new RuntimeError('RUNTIME_CLOSED', 'closed')
    }
    const clock = simulatedClock(0)
    const store = {
      open: async () => {
        isClosed = true
        return lease(released)
      },
    } as unknown as Store
    const codeOf = (opening: Promise<unknown>) => opening.catch((thrown: unknown) => (thrown as RuntimeError).code)
    assert.is(await codeOf(openLease(store, 'a', { wait: 100 }, { clock, checkOpen })), 'RUNTIME_CLOSED')
    assert.equal(released, ['released'])
    isClosed = false
    const closing = {
      open: async () => {
        isClosed = true
        throw locked
      },
    } as unknown as Store
    assert.is(await codeOf(openLease(closing, 'a', {}, { clock, checkOpen })), 'RUNTIME_CLOSED')
    isClosed = false
    for (const data of [{}, { url: 'http://x' }, { epoch: 3 }, { url: 'http://x', epoch: 0 }]) {
      const held = {
        open: () => Promise.reject(locked),
        holder: async () => ({ isHere: false, words: 'process 7', ...data }),
      } as unknown as Store
      const refused = await openLease(held, 'a', {}, { clock, checkOpen }).catch((thrown: unknown) => thrown)
      assert.equal((refused as RuntimeError).data, data)
    }
    const broken = {
      open: async () => {
        throw new RuntimeError('LOG_CORRUPT', 'no')
      },
    } as unknown as Store
    assert.is(await codeOf(openLease(broken, 'a', { wait: 100 }, { clock, checkOpen })), 'LOG_CORRUPT')
    const { signal } = new AbortController()
    assert.is(clock.pending, 0)
    const aborted = openLease(
      store,
      'a',
      { signal: AbortSignal.abort(new RuntimeError('QUEUE_FULL', 'x')) },
      {
        clock,
        checkOpen,
      },
    )
    assert.is(await codeOf(aborted), 'QUEUE_FULL')
    assert.is(signal.aborted, false)
  })
})

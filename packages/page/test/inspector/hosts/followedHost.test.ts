import { RuntimeError } from '../../../../../src/protocol/errors.ts'
import type { HostView } from '../../../../wire/src/hostView.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import type { RemoteHost } from '../../../../bridge/src/client/remoteHost.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { FollowedHost } from '../../../src/inspector/model/hosts/followedHost.ts'

type Told = Awaited<ReturnType<RemoteHost['history']>>

const view = (seq: number, status: HostView['status'] = 'active'): HostView => ({
  id: 'h',
  machine: 'order',
  status,
  value: 'open',
  seq,
  timers: [],
  children: [],
})
const told = (seq: number, status?: HostView['status'], count = 1): Told => ({
  host: view(seq, status),
  records: Array.from({ length: count }, (_, index) => ({
    seq: seq - count + 1 + index,
    time: 0,
    type: 'host.event',
    line: 'pay',
  })),
})

/** A machine whose server answers when the test says so. */
function followed() {
  const asked: { readonly after: number | undefined; readonly answer: PromiseWithResolvers<Told> }[] = []
  const history = ({ after }: { readonly after?: number } = {}): Promise<Told> => {
    const answer = Promise.withResolvers<Told>()
    asked.push({ after, answer })
    return answer.promise
  }
  const clock = simulatedClock()
  const client = { host: () => ({ history }) as RemoteHost }
  const host = new FollowedHost(client, 'h', clock)
  const settle = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))
  return {
    asked,
    host,
    async answer(next: Told | RuntimeError) {
      const { answer } = asked.at(-1)!
      if (next instanceof RuntimeError) answer.reject(next)
      else answer.resolve(next)
      await settle()
    },
    async wait(ms: number) {
      await clock.advance(ms)
      await settle()
    },
  }
}

describe('a machine that the page follows', (it) => {
  it('is asked for from the last record on, until it comes to its end', async () => {
    const { asked, host, answer, wait } = followed()
    await answer(told(3))
    await wait(100)
    await answer(told(5, 'active', 2))
    await wait(100)
    await answer(told(6, 'done'))
    await wait(60_000)
    assert.equal(
      asked.map(({ after }) => after),
      [undefined, 3, 5],
    )
    assert.equal(
      host.state.value.records.map(({ seq }) => seq),
      [3, 4, 5, 6],
    )
    assert.is(host.state.value.host?.status, 'done')
  })

  it('is asked for no more once one leaves, and what comes then is not shown', async () => {
    const { asked, host, answer, wait } = followed()
    await answer(told(3))
    await wait(100)
    host.close()
    await answer(told(5))
    await wait(60_000)
    assert.is(asked.length, 2)
    assert.is(host.state.value.host?.seq, 3)
  })

  it('is not asked for again after a pause in which one left', async () => {
    const { asked, host, answer, wait } = followed()
    await answer(told(3))
    host.close()
    await wait(60_000)
    assert.is(asked.length, 1)
  })

  it('keeps what is known when it cannot be read, and is asked for again on demand', async () => {
    const { asked, host, answer, wait } = followed()
    await answer(told(3))
    await wait(100)
    await answer(new RuntimeError('MACHINE_NOT_FOUND', 'It is gone.'))
    assert.is(host.state.value.error?.code, 'MACHINE_NOT_FOUND')
    assert.match(host.state.value.error?.message ?? '', /^It is gone\./)
    assert.is(host.state.value.host?.seq, 3)
    await wait(60_000)
    assert.is(asked.length, 2)
    host.again()
    host.again()
    assert.is(host.state.value.error, null)
    assert.equal(
      asked.map(({ after }) => after),
      [undefined, 3, 3],
    )
  })

  it('is asked for seldom while it is closed', async () => {
    const { asked, answer, wait } = followed()
    await answer(told(3, 'closed'))
    await wait(1_000)
    assert.is(asked.length, 1)
    await wait(1_000)
    assert.is(asked.length, 2)
  })

  it('has at most its newest 1,000 records', async () => {
    const { host, answer } = followed()
    await answer(told(1_500, 'active', 1_200))
    assert.equal([host.state.value.records.length, host.state.value.records[0]?.seq], [1_000, 501])
  })
})

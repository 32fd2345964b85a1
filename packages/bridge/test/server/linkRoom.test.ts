import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { Room, subscriptionsOf } from '../../src/server/room.ts'
import type { Connection } from '../../src/server/connections.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'ok') })
const [operator, watcher] = ['token-of-the-operator', 'token-of-one-who-looks']

describe('who may only look', (it) => {
  it(
    'never keeps out who acts, however many connections a link or a token makes',
    { timeoutMs: 20_000 },
    async (context) => {
      const serving = await serveAgents(context, [echo], {
        tokens: { [operator]: 'admin', [watcher]: 'observe' },
        limits: { connections: 16, drainMs: 50 },
      })
      await serving.runtime.spawn(echo, { id: 'a' })
      const { token: link } = await serving.server.shareLink('a')
      const come = async (token: string) => {
        const bare = await serving.dial({ hello: { token } })
        return Promise.race([
          bare.until(({ type }) => type === 'welcome').then(() => 'in'),
          bare.closed.then(() => 'out'),
        ])
      }
      // The part of one address is a sixteenth of 16.
      assert.equal([await come(link), await come(link)], ['in', 'out'])
      const looking: string[] = []
      for (let n = 0; n < 15; n += 1) looking.push(await come(watcher))
      // Three quarters, less the one of the link.
      assert.is(looking.filter((one) => one === 'in').length, 11)
      const acting = [await come(operator), await come(operator), await come(operator), await come(operator)]
      assert.equal(acting, ['in', 'in', 'in', 'in'])
      assert.is(await come(operator), 'out')
    },
  )

  it('gets its room back when a connection ends', () => {
    const room = new Room(64, simulatedClock())
    const guest = { grant: { role: 'observe' }, owner: 'share.one' } as const
    const taken = Array.from({ length: 4 }, () => ({}) as Connection)
    for (const one of taken) {
      assert.ok(room.has(guest, '10.0.0.1'))
      room.take(one, guest, '10.0.0.1')
    }
    assert.not.ok(room.has(guest, '10.0.0.1'))
    assert.ok(room.has(guest, '10.0.0.2'))
    assert.ok(room.has({ grant: { role: 'talk' }, owner: 'other' }, '10.0.0.1'))
    for (let n = 0; n < 4; n += 1) room.take({} as Connection, guest, '10.0.0.2')
    // An eighth for a link, wherever it is opened; another one has its own.
    assert.not.ok(room.has(guest, '10.0.0.3'))
    assert.ok(room.has({ ...guest, owner: 'share.two' }, '10.0.0.3'))
    for (let n = 0; n < 8; n += 1) room.take({} as Connection, { ...guest, owner: 'share.two' }, `10.0.1.${n}`)
    assert.not.ok(room.has({ ...guest, owner: 'share.three' }, '10.0.0.3'))
    for (const one of taken) room.release(one)
    assert.ok(room.has(guest, '10.0.0.1'))
  })

  it('asks for so many charts and artifacts with a link, and then for some a second', () => {
    const clock = simulatedClock()
    let ahead = 0
    const room = new Room(1_000, { ...clock, now: () => clock.now() + ahead })
    const link = { grant: { role: 'observe' }, owner: 'share.one' } as const
    const answered = (address: string, guest: Parameters<Room['mayAsk']>[0] = link): number =>
      Array.from({ length: 500 }, () => room.mayAsk(guest, address)).filter(Boolean).length
    assert.equal(
      [answered('one'), answered('two'), answered('three'), answered('four'), answered('five')],
      [100, 100, 100, 100, 0],
    )
    assert.is(answered('one', { grant: { role: 'observe' }, owner: watcher }), 500)
    ahead = 2_000
    assert.is(answered('one'), 20)
    // A clock that is set back gives nothing.
    ahead = 0
    assert.is(answered('one'), 0)
  })

  it('follows at most a hundred agents over one connection of a link', () => {
    assert.equal([subscriptionsOf({ owner: 'share.one' }, 1_000), subscriptionsOf({ owner: 'share.one' }, 5)], [100, 5])
    assert.is(subscriptionsOf({ owner: operator }, 1_000), 1_000)
  })

  it(
    'is answered 503 over HTTP when it asks for too much, and the operator is not',
    { timeoutMs: 20_000 },
    async (context) => {
      const serving = await serveAgents(context, [echo], { tokens: { [operator]: 'admin' } })
      await serving.runtime.spawn(echo, { id: 'a' })
      const { token: link } = await serving.server.shareLink('a')
      const ask = async (token: string): Promise<number> => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`http://127.0.0.1:${serving.server.port}/agents/a/chart.json`, { headers })
        await response.arrayBuffer()
        return response.status
      }
      const statuses = new Set<number>()
      for (let n = 0; n < 400 && !statuses.has(503); n += 1) statuses.add(await ask(link))
      assert.ok(statuses.has(503), [...statuses].join())
      assert.is.not(await ask(operator), 503)
    },
  )
})

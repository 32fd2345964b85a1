import { ResultCache } from '../../src/server/commandResults.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const room = { results: 3, idleSessions: 2, idleResults: 5 }

/** A session that has carried out commands of these ids, and counts them. */
function counting() {
  const run: string[] = []
  const once = (session: ReturnType<ResultCache['enter']>, id: string): Promise<unknown> =>
    session.once(id, () => run.push(id))
  return { run, once }
}

describe('answers that are remembered', (it) => {
  it('are given again, and what was refused may be tried again', async () => {
    const session = new ResultCache(1_000).enter('s', '')
    let tries = 0
    const refuse = (): never => {
      tries += 1
      throw new Error('no')
    }
    assert.is(await session.once('a', () => 'first'), 'first')
    assert.is(await session.once('a', () => assert.unreachable()), 'first')
    for (let n = 0; n < 2; n += 1) await assert.rejects(session.once('b', refuse), /no/)
    assert.is(tries, 2)
    assert.is(await session.once('b', () => 'then'), 'then')
  })

  it('are the newest of each session, which no other session shortens', async () => {
    const cache = new ResultCache(1_000, room)
    const { run, once } = counting()
    const [mine, other] = [cache.enter('mine', ''), cache.enter('other', '')]
    await once(mine, 'a')
    for (let n = 0; n < 100; n += 1) await once(other, `${n}`)
    assert.is(other.size, 3)
    await once(mine, 'a')
    assert.is(run.filter((id) => id === 'a').length, 1)
    for (const id of ['b', 'c', 'a', 'd', 'a']) await once(mine, id)
    assert.is(run.filter((id) => id === 'a').length, 2)
  })

  it('stay while anybody is connected, and for their time after', async () => {
    const cache = new ResultCache(1_000, room)
    const { run, once } = counting()
    await once(cache.enter('s', ''), 'a')
    cache.enter('s', '')
    cache.leave('s', 0)
    cache.expire(5_000)
    await once(cache.enter('s', ''), 'a')
    cache.leave('s', 6_000)
    cache.leave('s', 6_000)
    cache.expire(6_999)
    const back = cache.enter('s', '')
    await once(back, 'a')
    // It came back: its time begins anew when it leaves.
    cache.expire(10_000)
    cache.leave('s', 10_000)
    cache.expire(10_999)
    await once(cache.enter('s', ''), 'a')
    cache.leave('s', 11_000)
    assert.equal(run, ['a'])
    cache.expire(12_000)
    assert.is(cache.size, 0)
    await once(cache.enter('s', ''), 'a')
    assert.equal(run, ['a', 'a'])
  })

  it('of sessions that were left have a room for each token, which the oldest leave first', async () => {
    const cache = new ResultCache(1_000, room)
    const { run, once } = counting()
    await once(cache.enter('mine', 'one'), 'm')
    cache.leave('mine', 0)
    for (let n = 0; n < 100; n += 1) {
      await once(cache.enter(`their${n}`, 'two'), `${n}`)
      cache.leave(`their${n}`, 1)
    }
    assert.is(cache.size, 3)
    await once(cache.enter('their98', 'two'), '98')
    await once(cache.enter('their97', 'two'), '97')
    assert.equal(run.slice(-1), ['97'])
    await once(cache.enter('mine', 'one'), 'm')
    assert.is(run.filter((id) => id === 'm').length, 1)
  })

  it('are bounded by how many they are, too', async () => {
    const cache = new ResultCache(1_000, { ...room, idleSessions: 100 })
    const { once } = counting()
    for (const name of ['a', 'b', 'c']) {
      const session = cache.enter(name, '')
      for (const id of ['1', '2', '3']) await once(session, id)
      cache.leave(name, 0)
    }
    assert.is(cache.size, 1)
    assert.is(cache.enter('c', '').size, 3)
  })
})

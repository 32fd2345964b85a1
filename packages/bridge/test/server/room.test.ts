import { rightSchema } from '../../../wire/src/rightsSchema.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { titleOf } from '../../src/server/callTitle.ts'
import type { Connection } from '../../src/server/connections.ts'
import { progressText } from '../../src/server/progressText.ts'
import { depthOf } from '../../src/server/readFrame.ts'
import { ResultCache } from '../../src/server/commandResults.ts'
import { isUnlimited, type Grant } from '../../src/server/roles.ts'
import { Room, subscriptionsOf } from '../../src/server/room.ts'
import { isSessionOf, sessionIdOf } from '../../src/server/sessionId.ts'

const connection = (): Connection => ({ tick: () => {}, ping: () => {}, leave: () => {}, terminate: () => {} })
const reader: Grant = { role: 'observe' }
const link = (name: string) => ({ grant: reader, owner: `share.${name}` })

describe('the room of a server', (it) => {
  /** How many of these guests it takes, one after the other. */
  const taken = (room: Room, guests: Iterable<readonly [Parameters<Room['has']>[0], string]>): number => {
    let count = 0
    for (const [guest, address] of guests) {
      if (!room.has(guest, address)) break
      room.take(connection(), guest, address)
      count += 1
    }
    return count
  }
  const same = (guest: Parameters<Room['has']>[0], address = 'x') =>
    Array.from({ length: 1_000 }, () => [guest, address] as const)

  it('has a part for readers, for links together, for each and for each address', () => {
    const room = (): Room => new Room(64, simulatedClock())
    assert.is(taken(room(), same({ grant: reader, owner: 'ann' })), 48)
    assert.is(taken(room(), same(link('one'))), 4)
    assert.is(
      taken(
        room(),
        Array.from({ length: 99 }, (_, n) => [link('one'), `a${n}`] as const),
      ),
      8,
    )
    assert.is(
      taken(
        room(),
        Array.from({ length: 99 }, (_, n) => [link(`l${n}`), `a${n}`] as const),
      ),
      16,
    )
    // Those who act are bounded by the connections alone.
    for (const right of ['talk', 'control', 'approve', 'spawn'] as const)
      assert.is(taken(room(), same({ grant: { may: [right] }, owner: 'ann' })), 1_000, right)
    for (const right of rightSchema().options)
      if (!['talk', 'control', 'approve', 'spawn'].includes(right))
        assert.is(taken(room(), same({ grant: { may: [right] }, owner: 'ann' })), 48, right)
  })

  it('takes at least one of each, however small it is', () =>
    assert.is(taken(new Room(2, simulatedClock()), same(link('one'))), 1))

  it('is given back once by each that leaves', () => {
    const room = new Room(16, simulatedClock())
    const both = [connection(), connection()]
    const at = (n: number): string => `a${n}`
    both.forEach((one, n) => room.take(one, link('one'), at(n)))
    assert.not.ok(room.has(link('one'), at(2)))
    room.release(both[0]!)
    room.release(both[0]!)
    assert.ok(room.has(link('one'), at(2)))
    room.take(connection(), link('one'), at(2))
    assert.not.ok(room.has(link('one'), at(3)))
    // One that took none gives none back.
    room.release(connection())
    assert.not.ok(room.has(link('one'), at(3)))
  })

  it('answers so many requests of a link and of an address, and some more each second', () => {
    let now = 0
    const clock = { ...simulatedClock(), now: () => now }
    const room = new Room(64, clock)
    const asks = (times: number, address = 'x', guest: Parameters<Room['has']>[0] = link('one')): number =>
      Array.from({ length: times }, () => room.mayAsk(guest, address)).filter(Boolean).length
    assert.is(asks(200), 100)
    now += 1_000
    assert.is(asks(50), 10)
    now += 100
    assert.is(asks(50), 1)
    // A clock that goes back gives nothing.
    now -= 10_000
    assert.is(asks(5), 0)
    now += 3_600_000
    assert.is(asks(200), 100)
    // Others are not held up by that, but for the same link.
    assert.is(asks(200, 'y', link('two')), 100)
    now += 3_600_000
    const all = Array.from({ length: 10 }, (_, n) => asks(100, `b${n}`))
    assert.is(
      all.reduce((sum, each) => sum + each, 0),
      400,
    )
    assert.is(asks(1_000, 'x', { grant: reader, owner: 'ann' }), 1_000)
  })

  it('forgets the counts of who asked longest ago, and of nobody else', () => {
    const room = new Room(64, simulatedClock())
    const asks = (name: string): boolean => room.mayAsk(link(name), `of ${name}`)
    for (let n = 0; n < 200; n += 1) asks('first')
    for (let n = 0; n < 4_000; n += 1) asks(`l${n}`)
    assert.not.ok(asks('first'))
    for (let n = 0; n < 5_000; n += 1) asks(`m${n}`)
    assert.ok(asks('first'))
  })

  it('has a hundred subscriptions for each connection of a link at most', () => {
    assert.equal(
      [subscriptionsOf(link('a'), 500), subscriptionsOf(link('a'), 50), subscriptionsOf({ owner: 'ann' }, 500)],
      [100, 50, 500],
    )
  })
})

describe('who may do everything', (it) => {
  const all = rightSchema().options
  it('has every right, at all agents', () => {
    assert.ok(isUnlimited({ role: 'admin' }))
    assert.ok(isUnlimited({ may: all, owner: 'ann' }))
    // Who sees all sees messages.
    for (const right of all.filter((one) => one !== 'see.messages'))
      assert.not.ok(isUnlimited({ may: all.filter((one) => one !== right) }), right)
    for (const more of [{ agents: ['a'] }, { agents: () => true }, { metadata: { a: 'b' } }, { agents: [] }])
      assert.not.ok(isUnlimited({ role: 'admin', ...more }), Object.keys(more).join())
  })
})

describe('the id of a session', (it) => {
  const token = 'a-token-of-somebody'
  it('was made with its token, from a name', () => {
    assert.ok(isSessionOf(sessionIdOf('name', token), token))
    assert.ok(isSessionOf(sessionIdOf('a.b', token), token))
    const good = sessionIdOf('name', token)
    const wrong = [
      sessionIdOf('', token),
      good.slice(0, -1),
      `${good}0`,
      good.replace('name', 'nama'),
      good.slice(4),
      good.replace('.', ''),
      '',
      '.',
    ]
    for (const id of wrong) assert.not.ok(isSessionOf(id, token), id)
    assert.not.ok(isSessionOf(good, 'another-token-than-that'))
  })
})

describe('the results of sessions', (it) => {
  it('are kept while they are away for long enough, or somebody has come back', () => {
    const forgotten: string[] = []
    const cache = new ResultCache(1_000, { forgotten: (id) => void forgotten.push(id) })
    for (const id of ['one', 'two', 'back']) {
      cache.enter(id, 'ann')
      cache.leave(id, id === 'two' ? 1 : 0)
    }
    cache.enter('back', 'ann')
    cache.expire(999)
    assert.equal(forgotten, [])
    cache.expire(1_000)
    assert.equal(forgotten, ['one'])
    cache.expire(1_000_000)
    assert.equal([forgotten, cache.size], [['one', 'two'], 1])
    // Twice here, once gone.
    cache.enter('back', 'ann')
    cache.leave('back', 0)
    cache.expire(1_000_000)
    assert.is(cache.size, 1)
    cache.leave('back', 0)
    cache.leave('nobody', 0)
    cache.expire(1_000_000)
    assert.is(cache.size, 0)
  })

  it('of one owner are bounded, those away longest first, and others are not touched', () => {
    const forgotten: string[] = []
    const cache = new ResultCache(1_000, {
      idleSessions: 2,
      idleResults: 3,
      forgotten: (id) => void forgotten.push(id),
    })
    const visit = (id: string, owner: string, results: number): void => {
      const session = cache.enter(id, owner)
      for (let n = 0; n < results; n += 1) void session.once(`${n}`, () => n)
      cache.leave(id, 0)
    }
    visit('b', 'ben', 3)
    visit('a1', 'ann', 1)
    visit('a2', 'ann', 1)
    assert.equal(forgotten, [])
    visit('a3', 'ann', 1)
    assert.equal(forgotten, ['a1'])
    visit('a2', 'ann', 2)
    assert.equal(forgotten, ['a1'])
    visit('a4', 'ann', 2)
    assert.equal(forgotten, ['a1', 'a3', 'a2'])
  })
})

describe('how deep a text is nested', (it) => {
  for (const [text, depth] of [
    ['', 0],
    ['1', 0],
    ['{}', 1],
    ['[[],[]]', 2],
    ['[{"a":[1]}]', 3],
    ['"[[["', 0],
    ['["]","[["]', 1],
    ['["\\"[[", "\\\\"]', 1],
    ['["\\\\",[]]', 2],
    ['{"a\\"{":{}}', 2],
    [']]]]', 0],
  ] as const)
    it(`is ${depth}: ${text}`, () => assert.is(depthOf(text), depth))
})

describe('a call in short', (it) => {
  for (const [input, agentId, title] of [
    [{ path: 'a.ts', line: 3 }, undefined, 'look a.ts'],
    [{ line: 3, path: 'a.ts', more: 'b' }, undefined, 'look a.ts'],
    ['text', undefined, 'look text'],
    [null, undefined, 'look'],
    [undefined, undefined, 'look'],
    [{}, 'a.1', 'a.1: look'],
    [{ a: ' many\n\n  words ' }, undefined, 'look many words'],
    [{ a: 'x'.repeat(1_000) }, undefined, undefined],
  ] as const)
    it(`is ${title ?? 'cut'}: ${input === undefined ? 'no input' : JSON.stringify(input).slice(0, 40)}`, () => {
      const given = titleOf({ name: 'look', input, ...(agentId === undefined ? {} : { agentId }) })
      if (title === undefined) assert.ok(given.length <= 100 && given.startsWith('look xxx'))
      else assert.is(given, title)
    })
})

describe('a report of a call in words', (it) => {
  for (const [report, words] of [
    ['half', 'half'],
    [{ message: 'half', progress: 1 }, 'half'],
    [{ message: '', progress: 1, total: 2 }, '1 of 2'],
    [{ progress: 1 }, '1'],
    [{ progress: '1' }, undefined],
    [{ total: 2 }, undefined],
    [null, undefined],
    [5, undefined],
    [undefined, undefined],
  ] as const)
    it(`is ${words ?? 'nothing'}: ${JSON.stringify(report)}`, () => assert.is(progressText(report), words))
})

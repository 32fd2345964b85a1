import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { Sources } from '../../src/runtime/agents/sources.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { scriptedSource, type ScriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'

const newRedactor = (): Redactor => new Redactor({ knownKeys: false })

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const open = async (sources: Sources, source: ScriptedSource, user: object): Promise<void> =>
  sources.use(source, user).ready(new Cancellation())

/** Numbers that look random, the same each time. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const idleMs = 1_000
const users = ['x', 'y', 'z'].map((name) => ({ name }))

describe('the sources of a runtime', (it) => {
  for (const idleUnloadMs of [idleMs, undefined])
    it(`are open while somebody uses them, and ${idleUnloadMs === undefined ? 'eight more' : 'a while longer'}, whoever comes and goes`, async () => {
      for (let seed = 1; seed <= 25; seed += 1) {
        const roll = dice(seed)
        const clock = simulatedClock(0)
        const sources = new Sources({ newRedactor, clock, idleUnloadMs })
        const all = Array.from({ length: 11 }, (_, at) => scriptedSource(`s${at}`))
        const plain = new Map<ScriptedSource, { readonly users: Set<object>; leftAt: number }>()
        /** Those without users, the one that was left last at the end. */
        let idle: ScriptedSource[] = []
        for (let step = 0; step < 60; step += 1) {
          const user = users[roll(3)]!
          const kind = roll(5)
          if (kind < 3) {
            const source = all[roll(all.length)]!
            await open(sources, source, user)
            const known = plain.get(source) ?? { users: new Set(), leftAt: 0 }
            plain.set(source, known)
            known.users.add(user)
            idle = idle.filter((one) => one !== source)
          } else if (kind === 3) {
            const left = [...plain].filter(([, known]) => known.users.delete(user) && known.users.size === 0)
            sources.leave(user)
            for (const [, known] of left) known.leftAt = clock.now()
            // Those left at once go in the order in which they were taken, or left before.
            idle = [...idle, ...left.map(([source]) => source)]
          } else await clock.advance(roll(2) * (idleMs - 1) + roll(2))
          await settled()
          if (idleUnloadMs !== undefined)
            idle = idle.filter((source) => {
              if (clock.now() - plain.get(source)!.leftAt < idleUnloadMs) return true
              plain.delete(source)
              return false
            })
          else {
            // Of those left in one step any may go: how many are open is what counts.
            const closed = idle.filter((source) => !source.isOpen)
            assert.is(closed.length, Math.max(0, idle.length - 8), `seed ${seed}, step ${step}`)
            const before = idle.slice(0, closed.length)
            if (new Set(idle.map((source) => plain.get(source)!.leftAt)).size === idle.length)
              assert.equal(closed, before)
            for (const source of closed) plain.delete(source)
            idle = idle.filter((source) => source.isOpen)
          }
          for (const source of all)
            assert.is(source.isOpen, plain.has(source), `seed ${seed}, step ${step}: ${source.source}`)
        }
        const openAtTheEnd = all.filter(({ isOpen }) => isOpen)
        await sources.close()
        assert.equal([all.filter(({ isOpen }) => isOpen).length, clock.pending], [0, 0])
        for (const source of all) {
          const [opens, closes] = ['open', 'close'].map((what) => source.calls.filter((call) => call === what).length)
          assert.is(opens, closes, `${source.source} is closed once for each time that it was opened`)
        }
        // Nothing opens any more, and nothing is closed again.
        for (const source of openAtTheEnd) {
          const calls = source.calls.length
          await open(sources, source, users[0]!)
          assert.is(source.calls.length, calls)
        }
      }
    })

  it('are waited for ten seconds at the end; the logger is told of one that takes longer, or cannot be closed', async () => {
    for (const [how, told] of [
      ['hangs', `a source of tools did not close within 10000 ms`],
      ['fails', 'a source of tools could not be closed'],
      ['closes', undefined],
    ] as const) {
      const clock = simulatedClock(0)
      const warned: [unknown, string][] = []
      const logger = { warn: (about: unknown, text: string) => void warned.push([about, text]) }
      const sources = new Sources({ newRedactor, clock, logger: logger as never })
      const source = scriptedSource('db', [], { secrets: ['a-secret-of-six'] })
      const { open: opens } = source
      const wrapped = {
        ...source,
        open: (host: never) => ({
          ...opens.call(source, host),
          tools: [],
          ready: async () => {},
          close: async () => {
            if (how === 'fails') throw new Error('a-secret-of-six is wrong')
            if (how === 'hangs') await new Promise(() => {})
          },
        }),
      }
      await sources.use(wrapped, {}).ready(new Cancellation())
      let isOver = false
      const closing = sources.close().then(() => (isOver = true))
      await clock.advance(9_999)
      assert.is(isOver, how !== 'hangs')
      await clock.advance(1)
      await closing
      const about = how === 'fails' ? { source: 'db', error: '[redacted:db] is wrong' } : { source: 'db' }
      assert.equal([warned, clock.pending], [told === undefined ? [] : [[about, told]], 0])
    }
  })

  it('have their secrets blanked from the moment they are known, renewed ones too, and only if there are any', () => {
    const sources = new Sources({ newRedactor, clock: simulatedClock(0) })
    sources.know([scriptedSource('bare'), scriptedSource('empty', [], { secrets: [] })])
    assert.is(sources.redactor, undefined)
    const first = scriptedSource('first', [], { secrets: ['the-first-secret'] })
    sources.know([first, first])
    const blanks = (text: string): string | undefined => sources.redactor?.text(text)
    assert.is(blanks('the-first-secret, the-other-secret'), '[redacted:first], the-other-secret')
    const other = scriptedSource('other')
    return open(sources, other, {}).then(() => {
      other.host!.hide!([])
      assert.is(blanks('the-other-secret'), 'the-other-secret')
      other.host!.hide!(['the-other-secret'])
      assert.is(blanks('the-first-secret, the-other-secret'), '[redacted:first], [redacted:other]')
      assert.is(other.host!.redactor, sources.redactor)
    })
  })

  it('warn of each trouble once, of a hundred at most, and of none where a logger is told anyway', () => {
    const warned: string[] = []
    const logger = { warn: (_: unknown, text: string) => void warned.push(text) }
    const sources = new Sources({ newRedactor, clock: simulatedClock(0), logger: logger as never })
    sources.unheard({ source: 'db', state: 'failed', trouble: 'down' } as never)
    for (let n = 0; n < 110; n += 1) for (let twice = 0; twice < 2; twice += 1) sources.warn(`trouble ${n}`)
    assert.equal([warned.length, warned[0], warned.at(-1)], [100, 'trouble 0', 'trouble 99'])
  })
})

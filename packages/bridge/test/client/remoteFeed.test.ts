import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import type { Asked } from '../../src/client/outgoing.ts'
import { type EventFrame, RemoteFeed } from '../../src/client/remoteFeed.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A feed of agent `a`; `take`: what it asked since the last look, `told`: what its listeners heard. */
function feeding(knownSeq?: number) {
  const asked: { readonly frame: Asked; refused(error: RuntimeError): void }[] = []
  const ends: PromiseWithResolvers<unknown>[] = []
  const told: string[] = []
  const reported: string[] = []
  const feed = new RemoteFeed('a', {
    clock: simulatedClock(),
    ask: () => {
      ends.push(Promise.withResolvers<unknown>())
      return ends.at(-1)!.promise
    },
    askOnce: (frame, refused) => void asked.push({ frame, refused }),
    report: ({ code }) => void reported.push(code),
    ...(knownSeq === undefined ? {} : { knownSeq: () => knownSeq }),
  })
  return {
    feed,
    /** Questions for the end of the log. */
    ends,
    told,
    reported,
    asked,
    take: (): string[] =>
      asked.splice(0).map(({ frame }) => ('fromSeq' in frame ? `from ${frame.fromSeq}` : frame.type)),
    heard: (): string[] => told.splice(0),
    listen: (name: string, cursor?: number, rereads = false): (() => void) =>
      feed.add({
        cursor,
        deltas: false,
        descendants: false,
        requests: false,
        captured: true,
        rereads,
        onEvent: ({ seq }) => void told.push(`${name} ${seq}`),
        onCaughtUp: () => void told.push(`${name} caught up`),
        onEnd: (error) => void told.push(`${name} ended ${error?.code ?? 'well'}`),
      }),
    say: (...seqs: readonly number[]): void => {
      for (const seq of seqs)
        feed.take({
          type: 'event',
          agentId: 'a',
          seq,
          event: { type: 'turn.start', agentId: 'a', path: [], seq, time: 0, runId: 'r', turnIndex: seq },
        } as unknown as EventFrame)
    },
  }
}

const forbidden = new RuntimeError('BRIDGE_FORBIDDEN', 'no')
const ahead = new RuntimeError('INVALID_OPTION', 'fromSeq is too high')

describe('the feed of an agent', (it) => {
  it('tells who joins that it is caught up once everything up to there has come, and not who has left', async () => {
    const { feed, listen, say, heard } = feeding()
    listen('one', 0)
    listen('two', 0)
    await turn()
    assert.equal(heard(), [], 'nothing has come yet')
    say(1, 2)
    heard()
    assert.is(feed.caughtUp(3), false, 'of a subscription before')
    assert.equal(heard(), [])
    assert.is(feed.caughtUp(2), true)
    assert.equal(heard(), ['one caught up', 'two caught up'])
    listen('three', 2)
    listen('gone', 2)()
    await turn()
    assert.equal(heard(), ['three caught up'])
  })

  it('begins after the record with which it was spawned for its first listener only', () => {
    const { feed, listen, take, ends } = feeding()
    feed.spawned(5)
    const leave = listen('one')
    assert.equal([take(), ends.length], [['from 6'], 0])
    leave()
    assert.equal(take(), ['agent.unsubscribe'])
    listen('two')
    assert.equal([take(), ends.length], [[], 1], 'more has come since, which nobody counted')
  })

  it('asks once where the log ends, however many wait for that, and who waits begins there', async () => {
    const { feed, listen, take, ends, say, heard } = feeding()
    const called: string[] = []
    listen('one')
    listen('two')
    for (const name of ['first', 'second'])
      feed.whenOpen(
        () => called.push(name),
        () => called.push(`${name} refused`),
      )
    listen('early', 2)
    assert.equal([ends.length, take(), called], [1, ['from 3'], []])
    ends[0]!.resolve({ seq: 4 })
    await turn()
    assert.equal([take(), called], [[], ['first', 'second']], 'that is read already')
    say(3, 4, 5)
    assert.equal(heard(), ['early 3', 'early 4', 'one 5', 'two 5', 'early 5'])
  })

  for (const error of [undefined, forbidden])
    it(`ends for all, also for who waits to say something: ${error?.code ?? 'well'}`, async () => {
      const { feed, listen, heard, ends } = feeding()
      const called: string[] = []
      const wait = (name: string): void =>
        feed.whenOpen(
          () => called.push(name),
          ({ code }) => called.push(`${name} ${code}`),
        )
      listen('one')
      wait('first')
      if (error === undefined) feed.close()
      else ends[0]!.reject(error)
      await turn()
      const end = error === undefined ? 'well' : error.code
      assert.equal([heard(), called], [[`one ended ${end}`], [error === undefined ? 'first' : `first ${error.code}`]])
      wait('second')
      assert.is(called.at(-1), 'second', 'nobody is waited for any more')
      feed.close()
      assert.equal([heard(), called.length], [[], 2])
    })

  it('refuses a listener of records that nobody has seen, as far as the log is known by now', () => {
    const { listen, say, take } = feeding()
    const all = [listen('one', 0)]
    say(1, 2, 3, 4, 5)
    all.push(listen('back', 1))
    assert.equal(take(), ['from 1', 'from 2'])
    all.push(listen('at the end', 5))
    assert.throws(() => listen('ahead', 6), withCode('INVALID_OPTION', 'fromSeq is 7', 'ends with 5'))
    // Once nobody reads it the log may have lost some.
    for (const leave of all) leave()
    take()
    listen('again', 0)
    assert.throws(() => listen('ahead', 5), withCode('INVALID_OPTION', 'fromSeq is 6', 'ends with 0'))
  })

  it('is left by one listener once, and unsubscribed from with the last', () => {
    const { listen, take } = feeding()
    const [one, two] = [listen('one', 0), listen('two', 0)]
    take()
    one()
    one()
    assert.equal(take(), [])
    two()
    two()
    assert.equal(take(), ['agent.unsubscribe'])
  })

  it('is read again, or on, where the server has lost records, and ends where it may not be read', async () => {
    for (const [error, isAgain] of [
      [ahead, true],
      [forbidden, false],
    ] as const) {
      const { feed, listen, say, asked, take, heard, ends, reported } = feeding()
      listen('rereads', 0, true)
      listen('reads on', 0)
      say(1, 2, 3)
      take()
      heard()
      feed.reopen()
      asked[0]!.refused(error)
      if (!isAgain) {
        assert.equal([heard(), reported], [['rereads ended BRIDGE_FORBIDDEN', 'reads on ended BRIDGE_FORBIDDEN'], []])
        continue
      }
      assert.equal([reported, heard()], [['INVALID_OPTION'], []])
      ends[0]!.resolve({ seq: 1 })
      await turn()
      assert.equal(take(), ['from 4', 'from 1'])
      say(1, 2)
      assert.equal(heard(), ['rereads 1', 'rereads 2', 'reads on 2'])
    }
  })

  it('ends where it is refused from the record that was asked for', () => {
    const { listen, asked, heard } = feeding()
    listen('one', 7)
    asked[0]!.refused(ahead)
    assert.equal(heard(), ['one ended INVALID_OPTION'])
  })

  it('takes no refusal of a subscription that nobody has any more', () => {
    const { listen, asked, heard, ends } = feeding()
    listen('one', 3)()
    listen('two')
    asked[0]!.refused(forbidden)
    assert.equal([heard(), ends.length], [[], 1])
  })

  it('takes no record twice, none out of turn, and asks again for those that are missing', () => {
    const { listen, say, take, heard } = feeding()
    listen('one', 0)
    // Of the subscription before, while it begins.
    say(4)
    assert.equal([take(), heard()], [['from 1'], []])
    say(1, 1, 2)
    assert.equal([take(), heard()], [[], ['one 1', 'one 2']])
    say(5)
    assert.equal([take(), heard()], [['from 3'], []])
    say(2, 3, 4, 5)
    assert.equal([take(), heard()], [[], ['one 3', 'one 4', 'one 5']])
  })
})

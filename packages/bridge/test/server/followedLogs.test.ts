import type { LogRecord } from '../../../../src/protocol/records.ts'
import { Feed } from '../../src/server/feed.ts'
import { FollowedLogs } from '../../src/server/followedLogs.ts'
import { FollowedRun } from '../../src/server/followedRun.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('logs that others write', (it) => {
  const record = (seq: number) =>
    ({ v: 3, seq, time: 0, type: 'turn.start', runId: 'r', turnIndex: 0 }) as unknown as LogRecord

  function looked({ hasStat = true, dispatch = false } = {}) {
    const clock = simulatedClock()
    const log: LogRecord[] = []
    const feed = new Feed({ agentId: 'a', path: [], lastSeq: 0 })
    const seqs: number[] = []
    feed.listen(({ seq }) => void seqs.push(seq), { descendants: false })
    const state = {
      feeds: [feed],
      reads: 0,
      failure: undefined as Error | undefined,
      agent: undefined as { isLoaded: boolean; state: string } | undefined,
      held: undefined as Promise<void> | undefined,
    }
    const logs = new FollowedLogs({
      clock,
      feeds: () => state.feeds,
      agent: () => state.agent,
      dispatch: dispatch ? ({} as never) : undefined,
      store: {
        async *read(_: string, from = 1) {
          state.reads += 1
          if (state.failure !== undefined) throw state.failure
          for (const one of log.slice(from - 1)) {
            await state.held
            yield one
          }
        },
        ...(hasStat ? { stat: async () => ({ size: log.length }) } : {}),
      } as never,
    })
    const wait = async (): Promise<void> => {
      await clock.advance(200)
      await turns()
    }
    return { clock, log, feed, seqs, state, logs, wait }
  }

  it('are read once more after their agent was here, which may have written what nobody told', async () => {
    const { log, state, logs, wait } = looked()
    log.push(record(1))
    logs.begin()
    await wait()
    await wait()
    assert.is(state.reads, 1)
    state.agent = { isLoaded: true, state: 'idle' }
    await wait()
    assert.is(state.reads, 1)
    state.agent = undefined
    await wait()
    await wait()
    assert.is(state.reads, 2)
    logs.close()
  })

  it('are looked at every 200 ms, and read when they have grown', async () => {
    const { log, seqs, state, logs, wait, clock } = looked()
    log.push(record(1))
    logs.begin()
    logs.begin()
    assert.is(clock.pending, 1)
    await clock.advance(199)
    assert.is(state.reads, 0)
    await wait()
    await wait()
    assert.equal([seqs, state.reads], [[1], 1])
    log.push(record(2))
    await wait()
    assert.equal([seqs, state.reads], [[1, 2], 2])
    logs.close()
    assert.is(clock.pending, 0)
  })

  it('are read each time where the store tells no sizes', async () => {
    const { state, logs, wait, seqs, log } = looked({ hasStat: false })
    logs.begin()
    await wait()
    log.push(record(1))
    await wait()
    assert.equal([state.reads, seqs], [2, [1]])
    logs.close()
  })

  it('are looked at as long as there is a feed', async () => {
    const { state, logs, wait, clock } = looked()
    logs.begin()
    state.feeds = []
    await wait()
    assert.is(clock.pending, 0)
  })

  it('are none of an agent that certainly works here', async () => {
    for (const [agent, dispatch, isHere] of [
      [{ isLoaded: true, state: 'streaming' }, false, true],
      [{ isLoaded: true, state: 'idle' }, false, true],
      [{ isLoaded: true, state: 'idle' }, true, false],
      [{ isLoaded: true, state: 'paused' }, true, false],
      [{ isLoaded: true, state: 'streaming' }, true, true],
      [{ isLoaded: false, state: 'idle' }, false, false],
      [undefined, false, false],
    ] as const) {
      const { log, seqs, state, logs, wait, feed } = looked({ dispatch })
      log.push(record(1))
      state.agent = agent
      logs.begin()
      await wait()
      assert.equal(seqs, isHere ? [] : [1], JSON.stringify([agent, dispatch]))
      log.push(record(2))
      await logs.catchUp(feed)
      assert.equal(seqs, isHere ? [] : [1, 2])
      logs.close()
    }
  })

  it('are left in the middle once their agent works here, or nobody reads', async () => {
    for (const how of ['here', 'closed'] as const) {
      const { log, seqs, state, logs, clock, feed } = looked()
      log.push(record(1), record(2))
      const held = Promise.withResolvers<void>()
      state.held = held.promise
      logs.begin()
      await clock.advance(200)
      if (how === 'here') state.agent = { isLoaded: true, state: 'streaming' }
      else feed.isClosed = true
      held.resolve()
      await turns()
      assert.equal(seqs, [])
      logs.close()
    }
  })

  it('are read by one at a time, and again after a failure', async () => {
    const { log, seqs, state, logs, wait } = looked()
    log.push(record(1))
    state.failure = new Error('no')
    logs.begin()
    await wait()
    state.failure = undefined
    await wait()
    assert.equal([seqs, state.reads], [[1], 2])
    log.push(record(2))
    const held = Promise.withResolvers<void>()
    state.held = held.promise
    await wait()
    await wait()
    assert.is(state.reads, 3)
    held.resolve()
    logs.close()
    await turns()
  })
})

describe('a run that is followed', (it) => {
  const start = (runId: string, more: object = {}) => ({ type: 'run.start', runId, requestId: 'q', ...more })
  const reply = (runId: string, words: string) => ({
    type: 'reply.end',
    runId,
    message: { content: [{ type: 'text', text: words }] },
  })
  const end = (runId: string, more: object = {}) => ({
    type: 'run.end',
    runId,
    stopReason: 'stop',
    turns: 1,
    usage: {},
    costUsd: 0,
    ...more,
  })
  const interrupted = { stopReason: 'paused', reason: { type: 'interrupted' } }
  const dropped = (why: string, id = 'q') => ({ type: 'queue.changed', removed: [id], why })

  const cases: readonly (readonly [
    what: string,
    requestId: string | undefined,
    isPlaced: boolean,
    events: readonly object[],
    isOver: boolean,
    text: string | undefined,
    stopReason?: string,
  ])[] = [
    ['has not begun', 'q', false, [], false, undefined],
    ['is none, where no request is named', undefined, false, [], true, undefined],
    ['goes on', 'q', false, [start('r1'), reply('r1', 'x')], false, 'x', 'aborted'],
    ['has ended', 'q', false, [start('r1'), reply('r1', 'x'), end('r1')], true, 'x', 'stop'],
    [
      'is not another one',
      'q',
      false,
      [start('r0', { requestId: 'p' }), reply('r0', 'y'), end('r0')],
      false,
      undefined,
    ],
    ['does not end with another one', 'q', false, [start('r1'), reply('r0', 'y'), end('r0')], false, '', 'aborted'],
    [
      'is the last one, where no request is named',
      undefined,
      false,
      [start('r0'), end('r0'), start('r1', { requestId: 'p' }), reply('r1', 'z')],
      false,
      'z',
      'aborted',
    ],
    ['that was cut off has ended', 'q', false, [start('r1'), end('r1', interrupted)], true, '', 'paused'],
    [
      'that was cut off goes on where an engine sees to it',
      'q',
      true,
      [start('r1'), reply('r1', 'x'), end('r1', interrupted)],
      false,
      'x',
      'aborted',
    ],
    [
      'goes on in another one',
      'q',
      true,
      [
        start('r1'),
        reply('r1', 'x'),
        end('r1', interrupted),
        start('r2', { requestId: 's', resumedFrom: 'r1' }),
        end('r2'),
      ],
      true,
      'x',
      'stop',
    ],
    [
      'goes not on in one that another is resumed by',
      'q',
      false,
      [start('r1'), end('r1'), start('r2', { requestId: 's', resumedFrom: 'r0' })],
      true,
      '',
      'stop',
    ],
    ['was dropped before it began', 'q', false, [dropped('dropped')], true, '', 'aborted'],
    ['was taken from the queue to begin', 'q', false, [dropped('taken')], false, undefined],
    ['waits while another is dropped', 'q', false, [dropped('dropped', 'p')], false, undefined],
  ]
  for (const [what, requestId, isPlaced, events, isOver, text, stopReason] of cases)
    it(what, () => {
      const run = new FollowedRun(requestId, isPlaced ? { isPlaced } : {})
      for (const one of events) run.take(one as never)
      const result = run.result(null)
      assert.equal([run.isOver, result?.text, result?.stopReason], [isOver, text, stopReason])
    })

  it('says why it failed, if its log does not', () => {
    const run = new FollowedRun('q', {})
    for (const one of [start('r1'), end('r1', { stopReason: 'error' })]) run.take(one as never)
    assert.is(run.result(null)?.error?.code, 'INTERNAL')
    run.take(start('r2', { resumedFrom: 'r1', requestId: 's' }) as never)
    run.take(end('r2', { stopReason: 'error', error: { code: 'MODEL_FAILED', message: 'x' } }) as never)
    assert.is(run.result(null)?.error?.code, 'MODEL_FAILED')
  })
})

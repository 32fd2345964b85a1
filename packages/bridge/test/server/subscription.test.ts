import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { Feed, loggedFrame } from '../../src/server/feed.ts'
import type { Outbox } from '../../src/server/outbox.ts'
import { Subscription } from '../../src/server/subscription.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const at = { agentId: 'a', path: [], time: 0, runId: 'r', turnIndex: 0 } as const
const record = (seq: number): AgentEvent => ({ ...at, v: 1, type: 'turn.start', seq }) as unknown as AgentEvent
const delta = (text: string): AgentEvent => ({ ...at, type: 'reply.delta', seq: 0, text, offset: 0 }) as never
const other = (type: string, more: object = {}): AgentEvent => ({ ...at, type, seq: 0, ...more }) as never
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await turn()
}

interface Options {
  /** Number of the newest record that the agent has. */
  readonly lastSeq?: number
  /** Records that the store has. */
  readonly stored?: number
  readonly fromSeq?: number
  readonly wanted?: {
    readonly deltas?: boolean
    readonly descendants?: boolean
    readonly requests?: boolean
    readonly captured?: boolean
  }
  readonly growing?: string
  /** Why the store cannot be read. */
  readonly failure?: Error
}

/** A subscription of a client that reads as fast as the case says, to an agent of which this says what happens. */
function subscribed({ lastSeq = 0, stored = lastSeq, fromSeq = 1, wanted = {}, growing, failure }: Options = {}) {
  const clock = simulatedClock()
  const listeners: { readonly tell: (event: AgentEvent) => unknown; readonly descendants: boolean }[] = []
  const agent = {
    lastSeq,
    growingReply: growing === undefined ? undefined : { runId: 'r', turnIndex: 0, text: growing, thinking: '' },
    pending: undefined as Promise<void> | undefined,
    durable: () => agent.pending,
    subscribe(tell: (event: AgentEvent) => unknown, { descendants = false } = {}) {
      listeners.push({ tell, descendants })
      return () => {}
    },
  }
  const feed = new Feed({ agentId: 'a', path: [], lastSeq }, agent)
  const drains = new Set<() => void>()
  const out = {
    isFull: false,
    frames: [] as Record<string, unknown>[],
    /** Frames after which it is full. */
    room: Infinity,
    drain() {
      Object.assign(out, { isFull: false, room: Infinity })
      const calls = [...drains]
      drains.clear()
      for (const call of calls) call()
    },
  }
  const outbox = {
    get isFull() {
      return out.isFull
    },
    send(frame: string) {
      out.frames.push(JSON.parse(frame) as Record<string, unknown>)
      out.room -= 1
      if (out.room <= 0) out.isFull = true
    },
    onDrain(call: () => void) {
      drains.add(call)
      return () => drains.delete(call)
    },
  } as unknown as Outbox
  const log = { stored, reads: [] as number[], failure }
  const store = {
    async *read(_: string, from = 1) {
      log.reads.push(from)
      if (log.failure !== undefined) throw log.failure
      for (let seq = from; seq <= log.stored; seq += 1) yield record(seq) as unknown as LogRecord
    },
  }
  const failures: unknown[] = []
  const subscription = new Subscription({
    feed,
    store,
    clock,
    outbox,
    wanted: { fromSeq, deltas: true, descendants: false, requests: false, captured: true, ...wanted },
    view: 'all',
    fail: (thrown) => void failures.push(thrown),
  })
  return {
    subscription,
    agent,
    clock,
    out,
    log,
    failures,
    drains,
    listening: () => feed.hasListeners,
    happens: (event: AgentEvent): void => {
      for (const { tell, descendants } of listeners)
        if (event.agentId === 'a' || descendants || event.type === 'approval.requested') tell(event)
    },
    /** Types of the frames sent, each with the number of its record. */
    sent: () =>
      out.frames.map(({ type, seq, live }) =>
        type === 'event' && live !== true ? seq : `${type as string} ${seq as number}`,
      ),
  }
}

describe('a subscription', (it) => {
  it('reads what is past, from where it is asked for, says that this is all, and goes on', async () => {
    const { sent, happens } = subscribed({ lastSeq: 4, fromSeq: 2 })
    await turns()
    happens(record(5))
    happens(delta('x'))
    assert.equal(sent(), [2, 3, 4, 'caughtUp 4', 5, 'delta undefined'])
  })

  it('says of a captured request only that there was one, in the log and live, where no more is wanted', async () => {
    const captured = (seq: number): AgentEvent =>
      other('turn.captured', { v: 1, seq, attempt: 2, model: 'm', kept: 3, messages: [{}, {}], provenance: [{}, {}] })
    for (const isWanted of [true, false]) {
      const { out, happens } = subscribed({ lastSeq: 1, fromSeq: 2, wanted: { captured: isWanted } })
      await turns()
      happens(captured(2))
      const event = out.frames.at(-1)!['event'] as { readonly type: string; readonly captured?: object }
      assert.is(event.type, isWanted ? 'turn.captured' : 'record.withheld')
      assert.equal(event.captured, isWanted ? undefined : { attempt: 2, model: 'm', kept: 3, messages: 2 })
    }
    const logged = loggedFrame(captured(5), 'all', false)
    assert.ok(!logged.includes('provenance') && logged.includes('"seq":5'), logged)
    // Who may not see requests is not told of them either.
    assert.ok(!loggedFrame(captured(5), 'messages', false).includes('captured'))
  })

  it('has nothing to read of one that is up to date', async () => {
    const { sent, log } = subscribed({ lastSeq: 4, fromSeq: 5 })
    await turns()
    assert.equal([sent(), log.reads], [['caughtUp 4'], []])
  })

  it('gives what happens while it reads once, and in its place', async () => {
    const { sent, happens } = subscribed({ lastSeq: 2, stored: 3 })
    happens(record(3))
    await turns()
    happens(record(3))
    happens(record(4))
    assert.equal(sent(), [1, 2, 3, 'caughtUp 3', 4])
  })

  for (const missing of [1, 2, 3])
    it(`reads on in the log where records are missing, as of an agent that ran elsewhere: ${missing}`, async () => {
      const { sent, happens, log } = subscribed({ lastSeq: 1 })
      await turns()
      const next = 2 + missing
      log.stored = next
      happens(record(next))
      happens(record(next + 1))
      log.stored = next + 1
      await turns()
      const all = Array.from({ length: missing + 2 }, (_, index) => index + 2)
      assert.equal(sent(), [1, 'caughtUp 1', ...all, `caughtUp ${next + 1}`])
    })

  const kinds: readonly (readonly [what: string, event: AgentEvent, wanted: NonNullable<Options['wanted']>])[] = [
    ['pieces of replies', delta('x'), { deltas: true }],
    ['requests', other('turn.request', { request: {} }), { requests: true }],
    ['sub-agents', { ...record(9), agentId: 'a.1', path: ['a'] }, { descendants: true }],
  ]
  for (const [what, event, wanted] of kinds)
    it(`has ${what} only where that is wanted`, async () => {
      for (const isWanted of [true, false]) {
        const none = { deltas: false, requests: false, descendants: false }
        const { out, happens } = subscribed({ wanted: isWanted ? { ...none, ...wanted } : none })
        await turns()
        const before = out.frames.length
        happens(event)
        assert.is(out.frames.length - before, isWanted ? 1 : 0)
      }
    })

  it('hears what people below are asked, in any case, and once', async () => {
    for (const descendants of [true, false]) {
      const { out, happens } = subscribed({ wanted: { descendants } })
      await turns()
      const asked = { ...other('approval.requested', { key: 'k' }), agentId: 'a.1', path: ['a'] } as never as AgentEvent
      // An agent tells those who listen to it alone of these, too.
      happens(asked)
      assert.is(out.frames.length, 2)
    }
  })

  it('begins with the reply under way, where pieces are wanted', async () => {
    for (const deltas of [true, false]) {
      const { out } = subscribed({ growing: 'Hel', wanted: { deltas } })
      await turns()
      assert.equal(
        out.frames.map(({ type, text }) => [type, text]),
        deltas
          ? [
              ['caughtUp', undefined],
              ['delta', 'Hel'],
            ]
          : [['caughtUp', undefined]],
      )
    }
  })

  it('tells a client once that it reads slowly, and gives what it missed when it has read', async () => {
    const { sent, happens, out, log } = subscribed()
    await turns()
    out.isFull = true
    happens(record(1))
    happens(delta('lost'))
    happens(record(2))
    log.stored = 2
    await turns()
    assert.equal(sent(), ['caughtUp 0', 'lagging 0'])
    out.drain()
    await turns()
    happens(record(3))
    assert.equal(sent(), ['caughtUp 0', 'lagging 0', 1, 2, 'caughtUp 2', 3])
  })

  it('goes on in the middle of the log with a client that reads slowly, without reading it anew', async () => {
    const { sent, out, log } = subscribed({ lastSeq: 6 })
    out.room = 2
    await turns()
    assert.equal(sent(), [1, 2, 'lagging 2'])
    out.drain()
    await turns()
    assert.equal(sent(), [1, 2, 'lagging 2', 3, 4, 5, 6, 'caughtUp 6'])
    assert.equal(log.reads, [1])
  })

  it('gives what the feed still has in the same way', async () => {
    const { sent, out, happens, log } = subscribed()
    await turns()
    out.isFull = true
    for (let seq = 1; seq <= 5; seq += 1) happens(record(seq))
    out.drain()
    await turns()
    assert.equal([sent(), log.reads], [['caughtUp 0', 'lagging 0', 1, 2, 3, 4, 5, 'caughtUp 5'], []])
    out.room = 2
    out.isFull = true
    for (let seq = 6; seq <= 9; seq += 1) happens(record(seq))
    Object.assign(out, { isFull: false })
    out.drain()
    out.room = 2
    await turns()
    assert.equal(sent().slice(8, 11), ['lagging 5', 6, 7])
  })

  it('is closed at any time: nothing more is sent, and nothing waits', async () => {
    const live = subscribed()
    await turns()
    live.subscription.close()
    live.happens(record(1))
    assert.equal([live.sent(), live.listening()], [['caughtUp 0'], false])

    const lagging = subscribed()
    await turns()
    lagging.out.isFull = true
    lagging.happens(record(1))
    lagging.subscription.close()
    assert.is(lagging.drains.size, 0)
    lagging.out.drain()
    await turns()
    assert.equal(lagging.sent(), ['caughtUp 0', 'lagging 0'])

    const reading = subscribed({ lastSeq: 6 })
    reading.out.room = 2
    await turns()
    reading.subscription.close()
    assert.is(reading.drains.size, 0)
    reading.out.drain()
    await turns()
    assert.equal(reading.sent(), [1, 2, 'lagging 2'])

    const early = subscribed({ lastSeq: 3 })
    early.subscription.close()
    await turns()
    assert.equal([early.sent(), early.failures], [[], []])
  })

  it('waits for records that the store does not have yet', async () => {
    const { sent, log, agent, clock } = subscribed({ lastSeq: 2, stored: 1 })
    const written = Promise.withResolvers<void>()
    agent.pending = written.promise
    await turns()
    assert.equal(sent(), [1])
    assert.ok(log.reads.length < 4, `${log.reads.length} reads`)
    log.stored = 2
    agent.pending = undefined
    written.resolve()
    await turns()
    assert.equal([sent(), clock.pending], [[1, 2, 'caughtUp 2'], 0])
  })

  it('reads a store that failed again after a second, and no more once it is closed', async () => {
    for (const closes of [false, true]) {
      const { sent, log, agent, clock, subscription } = subscribed({ lastSeq: 1, stored: 0 })
      agent.pending = Promise.reject(new Error('full'))
      agent.pending.catch(() => {})
      await turns()
      const count = log.reads.length
      assert.is(clock.pending, 1)
      if (closes) subscription.close()
      assert.is(clock.pending, closes ? 0 : 1)
      agent.pending = undefined
      log.stored = 1
      await clock.advance(999)
      assert.is(log.reads.length, count)
      await clock.advance(1)
      await turns()
      assert.equal([sent(), clock.pending], [closes ? [] : [1, 'caughtUp 1'], 0])
    }
  })

  it('fails where the log ends too early, after three looks, and where it cannot be read', async () => {
    const short = subscribed({ lastSeq: 2, stored: 1 })
    await turns()
    assert.equal([short.failures.length, short.log.reads], [1, [1, 2, 2, 2, 2]])
    assert.is((short.failures[0] as RuntimeError).code, 'LOG_CORRUPT')
    assert.match((short.failures[0] as RuntimeError).message, 'ends with 1, not 2')
    const failure = new RuntimeError('STORE_READ_FAILED', 'no')
    const broken = subscribed({ lastSeq: 2, failure })
    await turns()
    assert.equal(broken.failures, [failure])
    const closed = subscribed({ lastSeq: 2, failure })
    closed.subscription.close()
    await turns()
    assert.equal(closed.failures, [])
  })

  it('looks three times anew after each part of the log that it found', async () => {
    const { log, failures, sent } = subscribed({ lastSeq: 3, stored: 1 })
    await turn()
    await turn()
    log.stored = 2
    for (let n = 0; n < 2; n += 1) await turn()
    log.stored = 3
    await turns()
    assert.equal([failures, sent().at(-1)], [[], 'caughtUp 3'])
  })
})

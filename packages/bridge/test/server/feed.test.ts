import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { Feed, type Fed, type FeedEvent } from '../../src/server/feed.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const at = { agentId: 'a', path: [], time: 1, runId: 'a/r0', turnIndex: 0 }

const record = (seq: number, reason = ''): AgentEvent => ({
  ...at,
  v: 3,
  seq,
  type: 'compaction.end',
  applied: false,
  reason,
  tokensBefore: 0,
  tokensAfter: 0,
  costUsd: 0,
})
const live = (seq: number, message = ''): AgentEvent => ({ ...at, seq, type: 'model.warning', model: 'm', message })

/** An agent of which a test says what happens, and when the store has it. */
class Story implements Fed {
  lastSeq = 0
  readonly growingReply = undefined
  pending: Promise<void> | undefined
  readonly listeners: { readonly tell: (event: AgentEvent) => unknown; readonly descendants: boolean }[] = []

  durable(): Promise<void> | undefined {
    return this.pending
  }

  subscribe(tell: (event: AgentEvent) => unknown, { descendants = false } = {}): () => void {
    const listener = { tell, descendants }
    this.listeners.push(listener)
    return () => void this.listeners.splice(this.listeners.indexOf(listener), 1)
  }

  happens(event: AgentEvent): void {
    if (event.agentId === 'a') this.lastSeq = event.seq
    for (const { tell, descendants } of this.listeners) if (event.agentId === 'a' || descendants) tell(event)
  }
}

function followed(lastSeq = 0) {
  const story = new Story()
  const feed = new Feed({ agentId: 'a', path: [], lastSeq }, story)
  const heard: FeedEvent[] = []
  feed.listen((fed) => heard.push(fed), { descendants: false })
  return { story, feed, heard, seqs: () => heard.map(({ seq }) => seq) }
}

const seqsAfter = (feed: Feed, seq: number): number[] | undefined => feed.after(seq)?.map((fed) => fed.seq)

describe('a feed', (it) => {
  it('tells no record that its process wrote too late, as another one has the log by now', async () => {
    const { story, feed, seqs } = followed()
    story.happens(record(1))
    story.pending = Promise.reject(new RuntimeError('STORE_LEASE_LOST', 'no'))
    story.happens(record(2, 'of nobody'))
    story.happens(live(2))
    story.happens(record(3, 'of nobody'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(seqs(), [1, 2])
    assert.is(feed.lastSeq, 1)
    // What the other one writes is told instead.
    feed.follow(record(2))
    assert.equal(seqsAfter(feed, 0), [1, 2])
    assert.not.match(JSON.stringify(feed.after(0)), /nobody/)
  })

  it('keeps what its readers are a little behind, and no more records than that', () => {
    const { story, feed } = followed()
    for (let seq = 1; seq <= 512; seq += 1) story.happens(record(seq))
    assert.is(seqsAfter(feed, 0)?.length, 512)
    story.happens(record(513))
    assert.is(feed.after(0), undefined)
    assert.equal(seqsAfter(feed, 510), [511, 512, 513])
    assert.equal(seqsAfter(feed, 513), [])
  })

  it('keeps no more of them than a few megabytes', () => {
    const { story, feed } = followed()
    for (let seq = 1; seq <= 10; seq += 1) story.happens(record(seq, 'x'.repeat(1024 * 1024)))
    assert.is(feed.after(5), undefined)
    assert.equal(seqsAfter(feed, 7), [8, 9, 10])
  })

  it('forgets what it kept when records are missing in between', () => {
    const { story, feed, seqs } = followed()
    for (const seq of [1, 2, 5, 6]) story.happens(record(seq))
    assert.equal(seqs(), [1, 2, 5, 6])
    for (const seq of [0, 1, 2, 3]) assert.is(feed.after(seq), undefined)
    assert.equal(seqsAfter(feed, 4), [5, 6])
  })

  it('holds what happens behind a record that is being written, up to a bound, and no record is left out', async () => {
    const { story, heard, seqs } = followed()
    const written = Promise.withResolvers<void>()
    story.pending = written.promise
    story.happens(record(1))
    for (let n = 0; n < 10_000; n += 1) story.happens(live(1))
    story.happens(record(2))
    assert.is(heard.length, 0)
    story.pending = undefined
    written.resolve()
    await written.promise
    await new Promise((resolve) => setImmediate(resolve))
    assert.is(heard.length, 4_096 + 1)
    assert.equal(
      seqs().filter((seq, index) => heard[index]!.isLogged && seq > 0),
      [1, 2],
    )
  })

  it('never tells of a record before the store has it, whatever comes while one before it is written', async () => {
    const { story, heard } = followed()
    const records = (): number[] => heard.flatMap(({ isLogged, seq }) => (isLogged ? [seq] : []))
    const writes: PromiseWithResolvers<void>[] = []
    /** The store has all but the newest of these. */
    const writing = (): void => {
      writes.push(Promise.withResolvers<void>())
      story.pending = writes.at(-1)!.promise
    }
    const written = async (): Promise<void> => {
      writes.shift()!.resolve()
      if (writes.length === 0) story.pending = undefined
      await new Promise((resolve) => setImmediate(resolve))
    }
    writing()
    story.happens(record(1))
    story.happens(live(1))
    writing()
    story.happens(record(2))
    writing()
    story.happens(record(3))
    story.happens(live(3))
    assert.is(heard.length, 0)
    await written()
    assert.equal(records(), [1], 'only the first is in the store')
    await written()
    await written()
    assert.equal(records(), [1, 2, 3])
  })

  it('tells of what it holds in its turn, once, though its agent goes elsewhere or another process is read meanwhile', async () => {
    for (const meanwhile of ['rests', 'follows'] as const) {
      const { story, feed, heard } = followed()
      const written = Promise.withResolvers<void>()
      story.pending = written.promise
      story.happens(record(1))
      if (meanwhile === 'rests') feed.rest()
      else feed.follow(record(1))
      story.happens(record(2))
      assert.is(heard.length, 0)
      story.pending = undefined
      written.resolve()
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(
        heard.map(({ seq }) => seq),
        [1, 2],
        meanwhile,
      )
    }
  })

  it('tells of a live event that is too large only that it happened', () => {
    const { story, heard } = followed()
    story.happens(live(0, 'x'.repeat(1024 * 1024)))
    story.happens(live(0, 'x'.repeat(1024)))
    const types = heard.map((event) => (JSON.parse(event.frameFor('all')!) as { event: AgentEvent }).event.type)
    assert.equal(types, ['events.dropped', 'model.warning'])
    assert.ok(heard[0]!.frameFor('all')!.length < 1_000)
  })

  it('hears the next life of its agent, and the family of that, and the old one no more', () => {
    const { story, feed, seqs } = followed()
    const family: string[] = []
    feed.listen((event) => event.scope === 'descendant' && family.push(event.frameFor('all')!), { descendants: true })
    story.happens(record(1))
    story.happens({ ...record(1), agentId: 'child' })
    assert.is(family.length, 1)
    const next = new Story()
    next.lastSeq = 1
    feed.attach(next)
    feed.attach(next)
    assert.is(story.listeners.length, 0)
    next.happens(record(2))
    next.happens({ ...record(1), agentId: 'child' })
    assert.is(family.length, 2)
    assert.equal(
      seqs()
        .filter((seq) => seq > 0)
        .slice(0, 1),
      [1],
    )
    assert.ok(seqs().includes(2))
    feed.close()
    assert.is(next.listeners.length, 0)
  })

  it('hears nothing of an agent that has gone elsewhere', () => {
    const { story, feed, heard } = followed()
    feed.listen(() => {}, { descendants: true })
    story.happens(record(1))
    feed.rest()
    assert.is(story.listeners.length, 0)
    const count = heard.length
    story.happens(record(2))
    assert.is(heard.length, count)
  })
})

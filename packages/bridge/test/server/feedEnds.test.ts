import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Feed, FeedEvent, type Fed } from '../../src/server/feed.ts'

const event = (type: string, more: object = {}): AgentEvent =>
  ({ agentId: 'a', path: [], seq: 1, time: 0, runId: 'r', turnIndex: 0, type, ...more }) as never
const logged = (seq: number, reason = ''): AgentEvent => event('agent.stopped', { v: 3, seq, reason })
const hear = (): void => {}

/** An agent that says what the case says, and how many listen. */
function agentOf(text = '') {
  const listeners = new Set<(event: AgentEvent) => unknown>()
  const agent: Fed = {
    lastSeq: 0,
    growingReply: text === '' ? undefined : { runId: 'r', turnIndex: 0, text, thinking: '' },
    durable: () => undefined,
    subscribe: (listener) => {
      const own = (one: AgentEvent): unknown => listener(one)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
  const tell = (one: AgentEvent): void => {
    for (const listener of listeners) listener(one)
  }
  return { agent, listeners, tell }
}

const feedOf = (agent: Fed): Feed => new Feed({ agentId: 'a', path: [], lastSeq: 0 }, agent)

describe('the feed of an agent', (it) => {
  it('listens to its newest agent alone, once, and to none at rest or once it is closed', () => {
    const [one, other] = [agentOf('half'), agentOf('anew')]
    const feed = feedOf(one.agent)
    feed.listen(hear, { descendants: true })
    feed.listen(() => hear(), { descendants: true })
    const listening = (): number[] => [one.listeners.size, other.listeners.size]
    assert.equal(listening(), [2, 0])
    feed.attach(one.agent)
    assert.equal(listening(), [2, 0])
    feed.attach(other.agent)
    assert.equal(listening(), [0, 2])
    assert.match(feed.partialDeltas('all').join(), 'anew')
    feed.rest()
    assert.equal([listening(), feed.partialDeltas('all')], [[0, 0], []])
    feed.attach(other.agent)
    assert.equal(listening(), [0, 2])
    feed.close()
    assert.equal([listening(), feed.hasListeners], [[0, 0], false])
  })

  it('has the reply that is being given, until it ends in whatever way', () => {
    for (const end of ['reply.end', 'reply.reset', 'run.end']) {
      const { agent, tell } = agentOf()
      const feed = feedOf(agent)
      tell(event('reply.delta', { text: 'of nothing', offset: 0 }))
      assert.equal(feed.partialDeltas('all'), [])
      tell(event('reply.start'))
      tell(event('reply.delta', { text: 'half ', offset: 0 }))
      tell(event('thinking.delta', { text: 'hm', offset: 0 }))
      tell(event('reply.delta', { text: 'an answer', offset: 5 }))
      const texts = feed.partialDeltas('all').map((frame) => (JSON.parse(frame) as { readonly text: string }).text)
      assert.equal(texts, ['hm', 'half an answer'])
      assert.equal(feed.partialDeltas('names'), [])
      tell(event(end, { v: 3, message: { role: 'assistant', content: [] } }))
      assert.equal(feed.partialDeltas('all'), [], end)
    }
  })

  it('keeps the newest records by how many and how long they are, and begins anew after a gap', () => {
    const { agent, tell } = agentOf()
    const feed = feedOf(agent)
    const kept = (after: number): number | undefined => feed.after(after)?.length
    const long = 'x'.repeat(1024 * 1024 - 300)
    for (let seq = 1; seq <= 5; seq += 1) tell(logged(seq, long))
    assert.equal([kept(0), kept(1), kept(4), kept(5)], [undefined, 4, 1, 0])
    // What is told twice, or later than others, leaves no gap behind it.
    tell(logged(20, long))
    assert.equal([kept(5), kept(19)], [undefined, 1])
    for (let seq = 21; seq <= 23; seq += 1) tell(logged(seq, long))
    assert.is(kept(19), 4)
    for (let seq = 24; seq <= 24 + 600; seq += 1) tell(logged(seq))
    assert.equal([kept(624 - 512), kept(624 - 513)], [512, undefined])
  })

  it('shows the words of its agent to who may see messages, and of those below it to nobody else but who sees all', () => {
    const said = event('reply.delta', { text: 'words', offset: 0 })
    for (const [scope, view, isShown] of [
      ['own', 'all', true],
      ['own', 'answering', true],
      ['own', 'messages', true],
      ['own', 'names', false],
      ['descendant', 'all', true],
      ['descendant', 'answering', false],
      ['descendant', 'messages', false],
      ['approval', 'all', true],
      ['approval', 'messages', false],
    ] as const) {
      const frame = new FeedEvent(said, scope).frameFor(view)
      assert.is(frame?.includes('words') ?? false, isShown, `${scope} ${view}`)
    }
  })
})

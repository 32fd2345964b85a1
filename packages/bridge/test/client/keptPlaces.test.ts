import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { type Asked, Outgoing } from '../../src/client/outgoing.ts'
import { type EventFrame, RemoteFeed } from '../../src/client/remoteFeed.ts'

describe('a command that is kept after its answer', (it) => {
  const limits = { maxFrameBytes: 1_000_000, framesPerSecond: 10_000, maxSubscriptions: 10 }
  const happenings = {
    answer: (outgoing: Outgoing) => outgoing.answered('c1', null),
    refusal: (outgoing: Outgoing) => outgoing.refused('c1', new RuntimeError('AGENT_NOT_FOUND', 'There is none.')),
    release: (outgoing: Outgoing) => outgoing.release(1),
    loss(outgoing: Outgoing) {
      outgoing.lost()
      outgoing.opened(limits, () => {})
    },
  } as const
  const orders = [
    ['answer', 'release'],
    ['release', 'answer'],
    ['answer', 'loss', 'release', 'answer'],
    ['answer', 'loss', 'answer', 'release'],
    ['loss', 'release', 'answer'],
    ['refusal', 'release'],
  ] as const
  for (const order of orders)
    it(`is sent over no later connection once it was answered and released: ${order.join(', ')}`, () => {
      const sent: string[] = []
      const outgoing = new Outgoing(simulatedClock(), (text) => sent.push(text))
      outgoing.opened(limits, () => {})
      const frame = { type: 'agent.abort', agentId: 'a' } as const
      outgoing.ask({ number: 1, frame, answered: () => {}, refused: () => {} }, true)
      for (const one of order) happenings[one](outgoing)
      const before = sent.length
      happenings.loss(outgoing)
      happenings.loss(outgoing)
      assert.is(sent.length, before)
    })
})

describe('a listener that begins further back than others', (it) => {
  it('is read to by one more subscription, whatever of the earlier one is still on its way', () => {
    const asked: Asked[] = []
    const feed = new RemoteFeed('a', {
      clock: simulatedClock(),
      ask: () => new Promise(() => {}),
      askOnce: (frame) => void asked.push(frame),
      report: () => {},
    })
    const heard: { readonly [name: string]: number[] } = { late: [], early: [] }
    const wants = (name: string, cursor: number) => ({
      cursor,
      deltas: false,
      descendants: false,
      requests: false,
      captured: true,
      rereads: false,
      onEvent: ({ seq }: { readonly seq: number }) => void heard[name]!.push(seq),
      onEnd: () => {},
    })
    const say = (seq: number): void =>
      feed.take({
        type: 'event',
        agentId: 'a',
        seq,
        event: { type: 'turn.start', agentId: 'a', path: [], seq, time: 0, runId: 'r', turnIndex: seq },
      } as unknown as EventFrame)
    feed.add(wants('late', 5))
    for (const seq of [6, 7]) say(seq)
    feed.add(wants('early', 0))
    for (const seq of [8, 9, 10]) say(seq)
    for (let seq = 1; seq <= 11; seq += 1) say(seq)
    assert.equal(
      asked.map((frame) => 'fromSeq' in frame && frame.fromSeq),
      [6, 1],
    )
    assert.equal(heard, { late: [6, 7, 8, 9, 10, 11], early: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] })
  })
})

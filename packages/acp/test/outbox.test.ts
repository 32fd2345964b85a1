import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { textChunk } from '../src/sessionUpdates.ts'
import { Outbox } from '../src/outbox.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const text = (piece: string, id = 't0'): SessionUpdate => textChunk('agent_message_chunk', id, piece)
const textOf = (update: SessionUpdate): string =>
  update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : ''

/** A client that reads when it is told to. */
function slowClient(maxChars: number) {
  const sent: SessionUpdate[] = []
  const reads: PromiseWithResolvers<void>[] = []
  let overflows = 0
  const outbox = new Outbox({
    maxChars,
    onOverflow: () => (overflows += 1),
    send: (update) => {
      sent.push(update)
      const read = Promise.withResolvers<void>()
      reads.push(read)
      return read.promise
    },
  })
  return { sent, reads, outbox, overflows: () => overflows }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('updates on their way to an ACP client', (it) => {
  it('are joined while they wait, only within one message', async () => {
    const { sent, reads, outbox } = slowClient(10_000)
    for (const update of [text('a'), text('b'), text('c'), text('d', 't1')]) outbox.push(update)
    const flushed = outbox.flushed()
    for (let index = 0; index < 3; index += 1) {
      reads[index]?.resolve()
      await settled()
    }
    await flushed
    assert.equal(sent.map(textOf), ['a', 'bc', 'd'])
  })

  it('count once while they wait, also those that were joined', async () => {
    const { sent, reads, outbox, overflows } = slowClient(1_000)
    outbox.push(text('first'))
    for (let index = 0; index < 100; index += 1) outbox.push(text('x'))
    assert.is(overflows(), 0)
    const flushed = outbox.flushed()
    reads[0]?.resolve()
    await settled()
    reads[1]?.resolve()
    await flushed
    assert.equal(sent.map(textOf), ['first', 'x'.repeat(100)])
  })

  it('are bounded: a client that does not read is given up once', async () => {
    const { sent, outbox, overflows } = slowClient(1_000)
    outbox.push(text('first'))
    for (let index = 0; index < 100; index += 1) outbox.push(text('x'.repeat(100), `t${index}`))
    assert.is(overflows(), 1)
    assert.is(sent.length, 1)
    await outbox.flushed()
  })

  it('may be one that is larger than the bound', async () => {
    const { sent, reads, outbox, overflows } = slowClient(10)
    outbox.push(text('x'.repeat(100)))
    const flushed = outbox.flushed()
    reads[0]?.resolve()
    await flushed
    assert.is(overflows(), 0)
    assert.is(sent.length, 1)
  })

  it('are taken from the past one by one, before what is new', async () => {
    const { sent, reads, outbox } = slowClient(300)
    let taken = 0
    const past = function* (): Generator<SessionUpdate> {
      for (; taken < 3; taken += 1) yield text(`p${taken}`)
    }
    outbox.replay(past())
    outbox.push(text('new'))
    assert.is(taken, 0)
    for (let index = 0; index < 4; index += 1) {
      reads[index]?.resolve()
      await settled()
    }
    assert.equal(sent.map(textOf), ['p0', 'p1', 'p2', 'new'])
  })

  it('are taken from the past no further once the client is given up', async () => {
    const { sent, reads, outbox, overflows } = slowClient(300)
    let taken = 0
    const past = function* (): Generator<SessionUpdate> {
      for (; taken < 50; taken += 1) yield text(`p${taken}`)
    }
    outbox.replay(past())
    outbox.push(text('new', 't1'))
    outbox.push(text('newer', 't2'))
    assert.is(overflows(), 1)
    for (let index = 0; index < 5; index += 1) {
      reads[index]?.resolve()
      await settled()
    }
    await outbox.flushed()
    assert.equal([sent.map(textOf), taken <= 2], [['p0'], true])
  })

  it('are dropped once the connection is gone, and nobody waits for them', async () => {
    const { reads, outbox, sent } = slowClient(10_000)
    outbox.push(text('a'))
    outbox.push(text('b', 't1'))
    const flushed = outbox.flushed()
    reads[0]?.reject(new Error('closed'))
    await flushed
    outbox.push(text('c'))
    await outbox.flushed()
    assert.is(sent.length, 1)
  })
})

import type { ServerResponse } from 'node:http'
import type { DrivenBelow } from '../../src/server/drivenAgent.ts'
import { DurableSink } from '../../src/streams/durableSink.ts'
import { piecesOf, serverSent } from '../../src/streams/piecesOf.ts'
import { EventStream } from '../../src/streams/eventStream.ts'
import { SocketSink } from '../../src/streams/socketSink.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** A socket of which the case says how much waits in it, and when that has left. */
function slowSocket() {
  const sent: string[] = []
  let left: (() => void)[] = []
  return {
    sent,
    bufferedAmount: 0,
    send: (text: string, done?: () => void) => {
      sent.push(text)
      if (done !== undefined) left.push(done)
    },
    close: () => {},
    onText: () => {},
    onClose: () => {},
    /** Tells that everything sent has left. */
    drain() {
      const calls = left
      left = []
      for (const call of calls) call()
    },
  }
}

describe('the runs of one socket', (it) => {
  function sinks() {
    const socket = slowSocket()
    const all = new SocketSink(socket, 100)
    const sink = all.of<number>(
      (n) => ({ n }),
      () => void socket.sent.push('end'),
    )
    return { socket, all, sink }
  }

  it('write at once, and wait only above what the socket may hold', () => {
    const { socket, all, sink } = sinks()
    socket.bufferedAmount = 100
    assert.is(sink.isFull, false)
    sink.write(1)
    socket.bufferedAmount = 101
    assert.is(sink.isFull, true)
    sink.write(2)
    // An answer is sent all the same.
    all.send({ answer: true })
    assert.equal(socket.sent, ['{"n":1}', '{"answer":true}'])
    socket.bufferedAmount = 0
    // What came later does not overtake what waits.
    assert.is(sink.isFull, true)
    sink.write(3)
    assert.is(socket.sent.length, 2)
    socket.drain()
    assert.equal(socket.sent.slice(2), ['{"n":2}', '{"n":3}'])
    sink.end()
    assert.is(socket.sent.at(-1), 'end')
  })

  it('go on once half of that has left, and call each who waits once', () => {
    const { socket, all, sink } = sinks()
    const calls: string[] = []
    sink.onDrain(() => calls.push('first'))
    sink.onDrain(() => calls.push('second'))
    for (const [amount, called] of [
      [51, []],
      [50, ['first', 'second']],
      [0, ['first', 'second']],
    ] as const) {
      all.send({})
      socket.bufferedAmount = amount
      socket.drain()
      assert.equal(calls, called)
    }
  })

  it('keep nothing for a client that has left', () => {
    const { socket, all, sink } = sinks()
    const calls: string[] = []
    all.send({})
    socket.bufferedAmount = 101
    sink.write(1)
    sink.onDrain(() => calls.push('drained'))
    all.close()
    socket.bufferedAmount = 0
    socket.drain()
    assert.equal([socket.sent, calls], [['{}'], []])
  })
})

/** An agent of which the case says what the store has. */
interface Story extends DrivenBelow {
  pending: Promise<void> | undefined
}

function story(below: readonly Story[] = []): Story {
  return {
    id: 'a',
    lastSeq: 0,
    pending: undefined,
    durable() {
      return this.pending
    },
    children: () => [...below],
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('what waits for the store', (it) => {
  function held(below: readonly Story[] = []) {
    const agent = story(below)
    const out = { isFull: false, written: [] as number[], drains: [] as (() => void)[], ends: 0 }
    const sink = new DurableSink<number>(
      {
        get isFull() {
          return out.isFull
        },
        write: (event) => void out.written.push(event),
        onDrain: (call) => void out.drains.push(call),
        end: () => void (out.ends += 1),
      },
      agent,
      [],
    )
    return { agent, out, sink }
  }

  it('is passed on at once where the store has everything, and ends at once', () => {
    const { out, sink } = held()
    sink.write(1)
    sink.end()
    assert.equal([out.written, out.ends], [[1], 1])
  })

  it('is passed on in order once the store has what was there then, and then it ends', async () => {
    const { agent, out, sink } = held()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    agent.pending = first.promise
    sink.write(1)
    agent.pending = second.promise
    sink.write(2)
    sink.end()
    await turn()
    assert.equal([out.written, out.ends], [[], 0])
    first.resolve()
    await turn()
    assert.equal([out.written, out.ends], [[1], 0])
    sink.write(3)
    agent.pending = undefined
    second.resolve()
    await turn()
    assert.equal([out.written, out.ends], [[1, 2, 3], 1])
  })

  it('waits for the agents below, however deep', async () => {
    const deepest = story()
    const { agent, out, sink } = held([story([deepest]), story()])
    const [own, deep] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    agent.pending = own.promise
    deepest.pending = deep.promise
    sink.write(1)
    own.resolve()
    await turn()
    assert.equal(out.written, [])
    deep.resolve()
    await turn()
    assert.equal(out.written, [1])
    agent.pending = undefined
    deepest.pending = Promise.resolve()
    sink.write(2)
    assert.equal(out.written, [1])
    await turn()
    assert.equal(out.written, [1, 2])
  })

  it('is passed on all the same while the store fails', async () => {
    const { agent, out, sink } = held()
    agent.pending = Promise.reject(new Error('full'))
    sink.write(1)
    await turn()
    assert.equal(out.written, [1])
  })

  it('counts as full from 1,024 events on, or where the client does not read', () => {
    const { agent, out, sink } = held()
    agent.pending = new Promise(() => {})
    for (let n = 1; n < 1_024; n += 1) sink.write(n)
    assert.is(sink.isFull, false)
    sink.write(1_024)
    assert.is(sink.isFull, true)
    const other = held()
    other.out.isFull = true
    assert.is(other.sink.isFull, true)
    assert.is(out.isFull, false)
  })

  it('calls back once it has gone, and the client has read', async () => {
    for (const isFull of [false, true]) {
      const { agent, out, sink } = held()
      const calls: string[] = []
      const pending = Promise.withResolvers<void>()
      agent.pending = pending.promise
      sink.write(1)
      sink.onDrain(() => calls.push('drained'))
      assert.is(out.drains.length, 0)
      agent.pending = undefined
      out.isFull = isFull
      pending.resolve()
      await turn()
      assert.equal([calls.length, out.drains.length], isFull ? [0, 1] : [1, 0])
      out.drains[0]?.()
      assert.equal(calls, ['drained'])
      // Where nothing waits, it is a matter of the client alone.
      sink.onDrain(() => calls.push('later'))
      assert.is(out.drains.length, isFull ? 2 : 1)
    }
  })

  it('is dropped for a client that has left', async () => {
    const { agent, out, sink } = held()
    const calls: string[] = []
    const pending = Promise.withResolvers<void>()
    agent.pending = pending.promise
    sink.write(1)
    sink.onDrain(() => calls.push('drained'))
    sink.drop()
    pending.resolve()
    await turn()
    assert.equal([out.written, calls], [[], []])
  })
})

describe('events as a response', (it) => {
  /** A response that takes as much as the case says. */
  function streamed(textOf?: (n: number) => Generator<string, void, undefined>) {
    const clock = simulatedClock()
    const listeners = new Map<string, () => void>()
    const response = {
      takes: true,
      writableNeedDrain: false,
      written: [] as string[],
      ended: undefined as string | undefined,
      head: {} as Record<string, unknown>,
      writeHead: (status: number, headers: object) => void Object.assign(response.head, { status, ...headers }),
      flushHeaders: () => void (response.head['flushed'] = true),
      on: (event: string, listener: () => void) => void listeners.set(event, listener),
      write: (text: string) => {
        response.written.push(text)
        response.writableNeedDrain = !response.takes
        return response.takes
      },
      end: (last: string) => void (response.ended = last),
      tell(event: string) {
        if (event === 'drain') Object.assign(response, { takes: true, writableNeedDrain: false })
        listeners.get(event)?.()
      },
    }
    const stream = new EventStream<number>(response as unknown as ServerResponse, {
      clock,
      everyMs: 1_000,
      textOf:
        textOf ??
        function* (n) {
          yield `${n}`
        },
      headers: { 'x-more': 'yes' },
      last: 'last',
    })
    return { clock, response, stream }
  }

  it('has its head at once', () => {
    const { response } = streamed()
    assert.equal(
      [response.head['status'], response.head['content-type'], response.head['x-more'], response.head['flushed']],
      [200, 'text/event-stream', 'yes', true],
    )
  })

  it('are written in pieces as the connection takes them, in order, and then it ends', () => {
    const { response, stream } = streamed(function* (n) {
      yield `${n}a`
      yield `${n}b`
    })
    const calls: string[] = []
    assert.is(stream.isFull, false)
    response.takes = false
    stream.write(1)
    stream.write(2)
    stream.onDrain(() => calls.push('drained'))
    assert.equal([response.written, stream.isFull], [['1a'], true])
    stream.end()
    assert.is(response.ended, undefined)
    response.tell('drain')
    assert.equal([response.written, response.ended], [['1a', '1b', '2a', '2b'], 'last'])
  })

  it('call back once the connection has taken them', () => {
    const { response, stream } = streamed()
    const calls: string[] = []
    response.takes = false
    stream.write(1)
    stream.onDrain(() => calls.push('drained'))
    assert.equal(calls, [])
    response.tell('drain')
    response.tell('drain')
    assert.equal([calls, stream.isFull], [['drained'], false])
    stream.end()
    assert.is(response.ended, 'last')
  })

  it('keep the connection alive, but not of who does not read, and not after their end', async () => {
    const { response, stream, clock } = streamed()
    await clock.advance(999)
    assert.equal(response.written, [])
    await clock.advance(1)
    await clock.advance(1_000)
    assert.equal(response.written, [': still here\n\n', ': still here\n\n'])
    response.writableNeedDrain = true
    await clock.advance(1_000)
    assert.is(response.written.length, 2)
    response.writableNeedDrain = false
    await clock.advance(1_000)
    assert.is(response.written.length, 3)
    stream.end()
    assert.is(clock.pending, 0)
  })

  for (const how of ['close', 'error'] as const)
    it(`are dropped when the client leaves by "${how}"`, () => {
      const { response, stream, clock } = streamed(function* (n) {
        yield `${n}a`
        yield `${n}b`
      })
      response.takes = false
      stream.write(1)
      stream.write(2)
      response.tell(how)
      assert.is(clock.pending, 0)
      response.tell('drain')
      assert.equal([response.written, stream.isFull], [['1a'], false])
    })
})

describe('a text in pieces', (it) => {
  const cut = (text: string): string[] => [...piecesOf(text, 3)]

  it('has pieces of the longest length and less, and splits no character', () => {
    assert.equal([cut(''), cut('abc'), cut('abcd'), cut('abcdefg')], [[''], ['abc'], ['abc', 'd'], ['abc', 'def', 'g']])
    assert.equal(
      [cut('ab😀c'), cut('a😀bc'), cut('😀😀')],
      [
        ['ab', '😀c'],
        ['a😀', 'bc'],
        ['😀', '😀'],
      ],
    )
    assert.equal(
      [cut('ab\ud7ffc'), cut('ab\ue000c')],
      [
        ['ab\ud7ff', 'c'],
        ['ab\ue000', 'c'],
      ],
    )
  })

  it('is an event of a stream', () => {
    assert.equal([...serverSent({ a: 1 })], ['data: {"a":1}\n\n'])
    assert.is([...serverSent('x'.repeat(64 * 1_024))].length, 2)
  })
})

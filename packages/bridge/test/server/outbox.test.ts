import { Outbox } from '../../src/server/outbox.ts'
import type { ServerSocket } from '../../src/server/serverSocket.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An outbox over a socket of which the case says how much waits in it. */
function boxed() {
  const state = { readyState: 1, bufferedAmount: 0, sent: [] as string[], stuck: 0 }
  const left: (() => void)[] = []
  const socket = Object.assign(state, {
    send: (text: string, done: () => void) => {
      state.sent.push(text)
      left.push(done)
    },
  })
  const outbox = new Outbox(socket as unknown as ServerSocket, { high: 100, hard: 1_000 }, () => (state.stuck += 1))
  const drain = (amount: number): void => {
    state.bufferedAmount = amount
    for (const done of left.splice(0)) done()
  }
  return { outbox, state, drain }
}

describe('the outbox of a socket', (it) => {
  it('sends together what is ready together, and a single frame as itself', async () => {
    const { outbox, state } = boxed()
    outbox.send('1')
    assert.equal([state.sent, outbox.waiting], [[], 1])
    await turn()
    outbox.send('2')
    outbox.send('33')
    assert.is(outbox.waiting, 3)
    await turn()
    assert.equal([state.sent, outbox.waiting], [['1', '[2,33]'], 0])
    outbox.flush()
    await turn()
    assert.is(state.sent.length, 2)
  })

  it('waits no longer than for a message of 64 KiB', async () => {
    const { outbox, state } = boxed()
    outbox.send('x'.repeat(64 * 1_024))
    assert.is(state.sent.length, 0)
    outbox.send('y')
    assert.is(state.sent.length, 1)
    await turn()
    assert.is(state.sent.length, 1)
  })

  it('is full above its line, with what it has not handed over yet, and until half of that has left', () => {
    const { outbox, state, drain } = boxed()
    const calls: string[] = []
    outbox.send('x'.repeat(100))
    assert.is(outbox.isFull, false)
    outbox.send('y')
    assert.is(outbox.isFull, true)
    state.bufferedAmount = 101
    outbox.flush()
    outbox.onDrain(() => calls.push('drained'))
    const forget = outbox.onDrain(() => calls.push('forgotten'))
    forget()
    state.bufferedAmount = 60
    assert.is(outbox.isFull, true)
    drain(51)
    assert.equal([outbox.isFull, calls], [true, []])
    outbox.send('z')
    outbox.flush()
    drain(50)
    assert.equal([outbox.isFull, calls], [false, ['drained']])
    outbox.send('z')
    outbox.flush()
    drain(0)
    assert.equal(calls, ['drained'])
  })

  it('is not full for what fits', () => {
    const { outbox, state } = boxed()
    outbox.send('x')
    state.bufferedAmount = 100
    outbox.flush()
    state.bufferedAmount = 99
    assert.is(outbox.isFull, false)
  })

  it('gives a client up that has not read what waited already, however much is sent to it at once', () => {
    const { outbox, state } = boxed()
    outbox.send('x'.repeat(5_000))
    outbox.flush()
    assert.equal([state.sent.length, state.stuck], [1, 0])
    state.bufferedAmount = 1_000
    outbox.send('y')
    outbox.flush()
    assert.equal([state.sent.length, state.stuck], [2, 0])
    state.bufferedAmount = 1_001
    outbox.send('z')
    outbox.flush()
    assert.equal([state.sent.length, state.stuck], [2, 1])
  })

  it('says nothing to a socket that is not open, and forgets it', () => {
    const { outbox, state } = boxed()
    state.readyState = 2
    outbox.send('x')
    outbox.flush()
    assert.equal([state.sent, outbox.waiting, state.stuck], [[], 0, 0])
  })
})

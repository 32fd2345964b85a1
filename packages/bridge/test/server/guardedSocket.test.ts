import { EventEmitter } from 'node:events'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { EndpointSocket } from '../../src/server/endpointSocket.ts'

/** A socket whose client answers nothing by itself. */
function mute() {
  const emitter = new EventEmitter()
  const happened: unknown[] = []
  const socket = {
    readyState: 1,
    bufferedAmount: 0,
    send: (text: string, done: () => void) => {
      happened.push(`sent ${text}`)
      done()
    },
    ping: () => void happened.push('ping'),
    close(code: number, reason: string) {
      happened.push([code, reason])
      socket.readyState = 2
    },
    terminate() {
      happened.push('terminated')
      socket.readyState = 3
      emitter.emit('close')
    },
    on: (event: string, listener: (...args: unknown[]) => void) => emitter.on(event, listener),
  }
  return { socket, emitter, happened }
}

function guarded(rules: { framesPerSecond?: number; hardLimitBytes?: number; isGranted?: () => boolean } = {}) {
  const clock = simulatedClock()
  const { socket, emitter, happened } = mute()
  const endpoint = new EndpointSocket(socket as never, {
    clock,
    framesPerSecond: 2,
    hardLimitBytes: 10,
    isGranted: () => true,
    ...rules,
  })
  const heard: string[] = []
  endpoint.onText((text) => void heard.push(text))
  const come = (data: string | Buffer, isBinary = false): void =>
    void emitter.emit('message', typeof data === 'string' ? Buffer.from(data) : data, isBinary)
  return { clock, socket, emitter, happened, endpoint, heard, come }
}

const flooded = [closeCodes.flooded, 'too many frames']

describe('a guarded socket', (it) => {
  it('takes as many frames in a second as are allowed, and not one more', () => {
    const { endpoint, heard, come, happened } = guarded()
    come('1')
    come('2')
    endpoint.tick()
    come('3')
    come('4')
    assert.equal([heard, happened], [['1', '2', '3', '4'], []])
    come('5')
    // Nor what comes after the close.
    endpoint.tick()
    come('6')
    assert.equal([heard, happened], [['1', '2', '3', '4'], [flooded]])
  })

  it('says as much of why it closes as a close frame holds, in whole characters', () => {
    for (const [reason, said] of [
      ['x'.repeat(123), 'x'.repeat(123)],
      ['x'.repeat(124), 'x'.repeat(123)],
      ['字'.repeat(41), '字'.repeat(41)],
      ['字'.repeat(42), '字'.repeat(41)],
      [`x${'字'.repeat(41)}`, `x${'字'.repeat(40)}`],
      ['🙂'.repeat(31), '🙂'.repeat(30)],
    ] as const) {
      const { endpoint, happened } = guarded()
      endpoint.close(4_000, reason)
      assert.equal(happened, [[4_000, said]])
    }
  })

  it('takes no binary frame', () => {
    const { heard, come, happened } = guarded()
    come('bytes', true)
    come('text')
    assert.equal([heard, happened], [[], [[1003, 'frames are text']]])
  })

  it('gives up a client that does not read, above its hard limit only', () => {
    const { socket, endpoint, happened } = guarded()
    socket.bufferedAmount = 10
    endpoint.send('a')
    assert.equal(happened, ['sent a'])
    socket.bufferedAmount = 11
    endpoint.send('b')
    assert.ok(happened.some((one) => Array.isArray(one) && one[0] === closeCodes.stuck))
  })

  it('is closed when code of its endpoint throws, with few words, and nothing else is', () => {
    const { endpoint, happened } = guarded()
    endpoint.run(() => {
      throw Object.assign(new Error('w'.repeat(500)), { code: 'X' })
    })
    const [[code, reason]] = happened as [[number, string]]
    assert.is(code, 1011)
    assert.ok(Buffer.byteLength(reason) <= 123, reason)
  })

  for (const [name, end] of [
    ['that is closed', ({ endpoint }) => endpoint.close(4000, 'bye')],
    ['that is told to leave', ({ endpoint }) => endpoint.leave()],
    ['that breaks', ({ emitter }) => void emitter.emit('error')],
    [
      'that floods',
      ({ come }) => {
        for (const text of ['1', '2', '3']) come(text)
      },
    ],
    [
      'that is silent',
      ({ endpoint }) => {
        endpoint.ping()
        endpoint.ping()
      },
    ],
  ] as readonly (readonly [string, (one: ReturnType<typeof guarded>) => void])[])
    it(`cuts off a client ${name} and does not answer the close, after two seconds`, async () => {
      const one = guarded()
      end(one)
      // A second reason does not give it longer.
      await one.clock.advance(1_999)
      one.endpoint.close(4000, 'again')
      assert.not.ok(one.happened.includes('terminated'))
      await one.clock.advance(1)
      assert.is(one.happened.filter((what) => what === 'terminated').length, 1)
      assert.is(one.clock.pending, 0)
    })

  it('leaves no timer once the client has answered its close', async () => {
    const { endpoint, socket, emitter, clock, happened } = guarded()
    endpoint.close(4000, 'bye')
    socket.readyState = 3
    emitter.emit('close')
    assert.is(clock.pending, 0)
    endpoint.close(4000, 'again')
    assert.equal([happened.length, clock.pending], [1, 0])
    // Nor one that broke before it was closed.
    const broken = guarded()
    broken.emitter.emit('error')
    broken.endpoint.close(4000, 'bye')
    broken.emitter.emit('close')
    assert.is(broken.clock.pending, 0)
  })

  it('is pinged again once anything came, and not while it closes', () => {
    for (const sign of ['pong', 'frame'] as const) {
      const { endpoint, emitter, come, happened } = guarded()
      endpoint.ping()
      if (sign === 'pong') emitter.emit('pong')
      else come('x')
      endpoint.ping()
      assert.equal(happened, ['ping', 'ping'], sign)
      endpoint.close(4000, 'bye')
      emitter.emit('pong')
      endpoint.ping()
      assert.is(happened.length, 3, sign)
    }
  })

  it('is closed at the next ping once its token allows something else', () => {
    let isGranted = true
    const { endpoint, happened } = guarded({ isGranted: () => isGranted })
    isGranted = false
    endpoint.ping()
    assert.equal(happened, [[closeCodes.goingAway, 'the token was changed']])
  })
})

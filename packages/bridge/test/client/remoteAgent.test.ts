import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { RemoteAgent } from '../../src/client/remoteAgent.ts'
import { own } from './toldAgent.ts'

interface Listener {
  readonly onEvent: (event: object) => void
  readonly onEnd: (error?: RuntimeError) => void
  readonly onCaughtUp?: () => void
}
interface Sent {
  readonly number: number
  readonly isKept: boolean
  readonly refused: (error: RuntimeError) => void
}

/** An agent whose feed and connection the case plays. */
function played() {
  const listeners = new Set<Listener>()
  const sent: Sent[] = []
  const released: number[] = []
  const snapshots: { resolve(answer: object): void; reject(thrown: unknown): void }[] = []
  let [number, waits] = [0, 0]
  let isThere = (): void => {}
  const feed = {
    lastSeq: 0,
    add: (listener: Listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    whenOpen: (open: () => void) => open(),
    caughtUp: () => true,
  }
  const owner = {
    sessionMark: 's',
    nextNumber: () => ++number,
    send: (asking: Omit<Sent, 'isKept'>, isKept: boolean) => sent.push({ ...asking, isKept }),
    release: (one: number) => released.push(one),
    ask: () => {
      const asked = Promise.withResolvers<object>()
      snapshots.push(asked)
      return asked.promise
    },
    report: () => {},
    onceThere: (_: string, call: () => void) => {
      waits += 1
      isThere = () => {
        waits -= 1
        call()
      }
      return () => void (waits -= 1)
    },
  }
  const agent = new RemoteAgent('a', owner as never, feed as never)
  const happens = (type: string, more: object): void => {
    for (const { onEvent } of listeners) onEvent({ ...own, type, seq: 1, turnIndex: 0, ...more })
  }
  const begins = (run: number, more: object = {}): void => {
    happens('run.start', { runId: `a/r${run}`, requestId: `s/c${run}`, cause: 'prompt', ...more })
    happens('turn.start', { runId: `a/r${run}` })
  }
  const ends = (run: number, more: object = {}): void =>
    happens('run.end', { runId: `a/r${run}`, stopReason: 'stop', turns: 1, costUsd: 0, usage: {}, ...more })
  const endAll = (error?: RuntimeError): void => {
    for (const { onEnd } of new Set(listeners)) onEnd(error)
    listeners.clear()
  }
  return {
    agent,
    feed,
    listeners,
    sent,
    released,
    snapshots,
    begins,
    ends,
    endAll,
    waits: () => waits,
    isThere: () => isThere(),
  }
}

const cutOff = { stopReason: 'paused', reason: { type: 'interrupted' } }

describe('an agent on a server', (it) => {
  it('is listened to from a record that there may be', () => {
    const { agent, listeners } = played()
    for (const fromSeq of [0, -1, 1.5, Number.NaN])
      assert.throws(() => agent.subscribe(() => {}, { fromSeq }), withCode('INVALID_OPTION'), String(fromSeq))
    assert.is(listeners.size, 0)
    agent.subscribe(() => {}, { fromSeq: 1 })
    assert.is(listeners.size, 1)
  })

  it('is sent what begins runs until those have ended, and all else once', async () => {
    const { agent, sent, released, begins, ends, listeners } = played()
    const runs = [agent.prompt('one'), agent.prompt('two')]
    void agent.steer('and')
    assert.equal(
      sent.map(({ number, isKept }) => [number, isKept]),
      [
        [1, true],
        [2, true],
        [3, false],
      ],
    )
    begins(1)
    ends(1)
    assert.equal([released, listeners.size], [[1], 1])
    begins(2)
    ends(2)
    assert.equal([released, listeners.size], [[1, 2], 0])
    assert.equal(
      (await Promise.all(runs.map(({ result }) => result))).map(({ stopReason }) => stopReason),
      ['stop', 'stop'],
    )
  })

  it('is listened to anew for a run after its events had ended', async () => {
    const { agent, listeners, endAll } = played()
    for (let time = 1; time <= 2; time += 1) {
      const run = agent.prompt('go')
      assert.is(listeners.size, 1)
      endAll(new RuntimeError('BRIDGE_CLOSED', 'gone'))
      assert.is((await run.result).error?.code, 'BRIDGE_CLOSED')
    }
  })

  it('is sent nothing for a run that was aborted before', async () => {
    const { agent, sent, listeners } = played()
    const run = agent.prompt('go', { signal: AbortSignal.abort() })
    assert.equal([(await run.result).stopReason, sent.length, listeners.size], ['aborted', 0, 0])
  })

  it('is asked once whether a run that was cut off goes on, and heard until that is known', async () => {
    const { agent, feed, snapshots, begins, ends, listeners, released } = played()
    const run = agent.prompt('go')
    begins(1)
    ends(1, cutOff)
    assert.equal([listeners.size, released], [1, []])
    agent.caughtUp(1)
    agent.caughtUp(1)
    assert.is(snapshots.length, 1)
    // What the answer knows has not come yet: it is asked again.
    feed.lastSeq = 4
    snapshots[0]!.reject(new RuntimeError('BRIDGE_CLOSED', 'gone'))
    assert.is((await run.result).stopReason, 'paused')
    assert.equal([listeners.size, released], [0, [1]])
    const next = agent.prompt('more')
    begins(2)
    ends(2, cutOff)
    agent.caughtUp(4)
    assert.is(snapshots.length, 2)
    begins(3, { resumedFrom: 'a/r2', cause: 'resume' })
    ends(3)
    assert.is((await next.result).stopReason, 'stop')
    await quiet()
  })

  it('that is not there is waited for once, and no longer by who has left', () => {
    const missing = new RuntimeError('AGENT_NOT_FOUND', 'none')
    const { agent, endAll, waits, listeners } = played()
    const errors: unknown[] = []
    const leave = agent.subscribe(() => {}, { awaits: true, onEnd: (error) => errors.push(error?.code) })
    endAll(missing)
    assert.equal([errors, waits(), listeners.size], [['AGENT_NOT_FOUND'], 1, 0])
    leave()
    assert.is(waits(), 0)
    const gone = agent.subscribe(() => {}, { awaits: true })
    const [listener] = listeners
    gone()
    listener!.onEnd(missing)
    assert.is(waits(), 0)
  })

  it('is heard of a run that was cut off, also once another one is refused', async () => {
    const { agent, sent, begins, ends, listeners, released } = played()
    const run = agent.prompt('go')
    begins(1)
    ends(1, cutOff)
    const other = agent.prompt('more')
    sent[1]!.refused(new RuntimeError('QUEUE_FULL', 'no'))
    assert.is((await other.result).error?.code, 'QUEUE_FULL')
    assert.equal([listeners.size, released], [1, [2]])
    begins(3, { resumedFrom: 'a/r1', cause: 'resume' })
    ends(3)
    assert.is((await run.result).stopReason, 'stop')
    assert.equal([listeners.size, released], [0, [2, 1]])
  })

  it('that was there, and is gone again, is waited for anew', () => {
    const missing = new RuntimeError('AGENT_NOT_FOUND', 'none')
    const { agent, endAll, waits, listeners, isThere } = played()
    agent.subscribe(() => {}, { awaits: true, onEnd: () => {} })
    endAll(missing)
    isThere()
    assert.equal([waits(), listeners.size], [0, 1])
    for (const { onCaughtUp } of listeners) onCaughtUp?.()
    endAll(missing)
    assert.is(waits(), 1)
    isThere()
    // It is in the roster, and cannot be followed.
    endAll(missing)
    assert.is(waits(), 0)
  })
})

import { FeedListener } from '../../src/client/feedListener.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const at = { agentId: 'a', path: [], time: 1, runId: 'a/r0', turnIndex: 0 }
const event = (type: string, seq: number): AgentEvent => ({ ...at, seq, type, message: '' }) as unknown as AgentEvent

function listening(cursor: number | undefined, requests = false) {
  const heard: string[] = []
  const listener = new FeedListener({
    cursor,
    deltas: true,
    descendants: false,
    requests,
    captured: true,
    rereads: false,
    onEvent: ({ type, seq }) => void heard.push(`${type} ${seq}`),
    onEnd: () => {},
  })
  const delta = (seq: number, offset: number, text: string): void =>
    listener.takeDelta(
      { type: 'delta', agentId: 'a', runId: 'a/r0', turnIndex: 0, kind: 'text', offset, text },
      { path: [], seq, time: 1 },
    )
  return { listener, heard, delta }
}

describe('a listener', (it) => {
  it('hears of nothing that happened after a record which it has not had yet', () => {
    const { listener, heard, delta } = listening(2)
    listener.takeLive(event('model.warning', 3), 3, true)
    delta(3, 0, 'he')
    assert.equal(heard, [])
    listener.takeLogged(event('turn.start', 3), 3)
    listener.takeLive(event('model.warning', 3), 3, true)
    delta(3, 0, 'hello')
    assert.equal(heard, ['turn.start 3', 'model.warning 3', 'reply.delta 3'])
  })

  it('hears nothing before it is known where the log ends, and no record twice', () => {
    const { listener, heard, delta } = listening(undefined)
    listener.takeLogged(event('turn.start', 3), 3)
    listener.takeLive(event('model.warning', 0), 0, true)
    delta(0, 0, 'he')
    assert.equal(heard, [])
    listener.cursor = 3
    for (const seq of [3, 4, 4, 2]) listener.takeLogged(event('turn.start', seq), seq)
    assert.equal(heard, ['turn.start 4'])
  })

  it('hears of requests and of those below it only where it wants to', () => {
    for (const requests of [true, false]) {
      const { listener, heard } = listening(2, requests)
      listener.takeLive(event('turn.request', 2), 2, true)
      listener.takeLive(event('model.warning', 2), 2, false)
      assert.equal(heard, requests ? ['turn.request 2'] : [])
    }
  })
})

import { requestChange } from '../../src/conversation/requestChange.ts'
import type { ModelRequest, RequestMessage } from '../../src/protocol/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { RequestView } from '../../src/inspector/model/agentView.ts'
import { requestMarks } from '../../src/inspector/model/requestMarks.ts'
import { requestReasons } from '../../src/inspector/model/requestReason.ts'
import { requestTokens, requestUsage } from '../../src/inspector/model/requestSize.ts'
import { assert, describe } from '../support/suite.ts'

const said = (text: string): RequestMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 's',
  tools: [],
  settings: {},
  messages: [],
  ...changes,
})
const tool = (name: string, description = '') => ({ name, description, inputSchema: {} })

describe('messages beside those of the request before', (it) => {
  it('are kept from the beginning, then moved or new, and what is sent no more is named', () => {
    const before = ['a', 'b', 'c', 'd'].map(said)
    const now = ['a', 'x', 'c', 'e'].map(said)
    assert.equal(requestMarks(before, now, 1), { marks: ['kept', 'new', 'moved', 'new'], gone: [1, 3] })
  })

  it('that are equal are matched once each', () => {
    const before = ['a', 'b', 'b'].map(said)
    const now = ['b', 'b', 'b'].map(said)
    assert.equal(requestMarks(before, now, 0), { marks: ['moved', 'moved', 'new'], gone: [0] })
  })

  it('of the same request are all kept', () => {
    const messages = ['a', 'b'].map(said)
    assert.equal(requestMarks(messages, messages, 2), { marks: ['kept', 'kept'], gone: [] })
    assert.equal(requestMarks([], [], 0), { marks: [], gone: [] })
  })
})

describe('the frame of a request', (it) => {
  it('is compared by system, settings and each tool', () => {
    const before = request({ tools: [tool('a'), tool('b')], messages: [said('x')] })
    const after = request({ system: 't', tools: [tool('b', 'new'), tool('c')], messages: [said('x'), said('y')] })
    assert.equal(requestChange({ request: before }, { request: after, kept: 1 }), {
      kept: 1,
      gone: 0,
      added: 1,
      system: true,
      settings: false,
      tools: { added: ['c'], removed: ['a'], changed: ['b'] },
    })
  })
})

describe('why a message is in a request', (it) => {
  it('is said for each of those that were merged into it', () => {
    const reasons = requestReasons({
      type: 'loopTurn',
      turnIndex: 3,
      role: 'toolResult',
      messageIndex: 1,
      merged: [{ type: 'note', kind: 'lesson' }, { type: 'note', kind: 'memo' }, { type: 'summary' }],
    })
    assert.equal(
      reasons.map(({ word, from }) => `${word}, ${from}`),
      ['tool result, turn 4', 'lesson, left by a revert', 'memo of a prune or fold, ', 'summary, of a compaction'],
    )
  })

  it('is not known without a record of it', () => {
    assert.equal(
      requestReasons(undefined).map(({ word }) => word),
      ['unknown'],
    )
  })
})

describe('the usage of a request', (it) => {
  const turn = { v: 3, runId: 'a/r0', time: 0 } as const
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
  const message = { role: 'assistant', content: [], stopReason: 'stop', usage, model: 'm' } as const
  const reply = { nodeId: 2, parentId: 1, message, costUsd: 0, estimatedTokens: 0 } as const
  const records: readonly LogRecord[] = [
    { ...turn, seq: 1, turnIndex: 0, type: 'turn.start' },
    { ...turn, seq: 2, turnIndex: 0, type: 'reply.end', ...reply },
    { ...turn, seq: 3, turnIndex: 1, type: 'turn.start' },
  ]
  const at = (seq: number, turnIndex: number): RequestView => ({
    isLive: false,
    seq,
    runId: 'a/r0',
    turnIndex,
    attempt: 1,
    kept: 0,
    model: 'm',
    request: request(),
    provenance: [],
  })

  it('is that of the reply to it, and of none while it is waited for', () => {
    assert.equal(requestUsage(records, at(1, 0)), usage)
    assert.is(requestUsage(records, at(3, 1)), undefined)
    assert.is(requestUsage(records, at(1, 7)), undefined)
  })

  it('is estimated over system, tools and messages before', () => {
    const empty = requestTokens(request({ system: '' }))
    const system = requestTokens(request({ system: 'x'.repeat(350) }))
    assert.is(empty, 0)
    assert.is(system, 100)
    assert.ok(requestTokens(request({ system: '', messages: [said('x'.repeat(350))] })) >= 100)
    assert.ok(requestTokens(request({ system: '', tools: [tool('a')] })) > 0)
  })
})

import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { noUsage, textOf } from '../../src/protocol/messages.ts'
import { recordVersion, type LogRecord } from '../../src/protocol/records.ts'
import { assert, describe } from '../support/suite.ts'

const at = { v: recordVersion, time: 1, runId: 'a/r0', turnIndex: 0 } as const
const said = (seq: number, nodeId: number, parentId: number | null, text: string): LogRecord => ({
  ...at,
  seq,
  type: 'message.added',
  nodeId,
  parentId,
  message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' },
})
const replied = (seq: number, nodeId: number, parentId: number, text: string): LogRecord => ({
  ...at,
  seq,
  type: 'reply.end',
  nodeId,
  parentId,
  costUsd: 0,
  estimatedTokens: 0,
  message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', usage: noUsage, model: 'm' },
})
const refused = (seq: number, withheld: readonly number[]): LogRecord => ({
  ...at,
  seq,
  type: 'guard.decided',
  at: 'input',
  decision: 'refused',
  guard: 'g',
  reason: 'no.',
  to: 3,
  withheld,
})

const told = (...records: readonly LogRecord[]): Conversation => {
  const conversation = new Conversation()
  for (const record of records) conversation.apply(record)
  return conversation
}
const long = 'a very long secret '.repeat(100)
const line = '[A message of the user was withheld by the application: no.]'

describe('messages that a guard refused', (it) => {
  it('have a line in their place, and the sizes of the trunk are as if that had been said', () => {
    const before = [said(1, 1, null, long), replied(2, 2, 1, 'half'), said(3, 3, 2, long)] as const
    const conversation = told(...before, refused(4, [1, 3]))
    assert.equal(
      conversation.trunk().map(({ message }) => textOf(message.content)),
      [line, 'half', line],
    )
    const same = told(said(1, 1, null, line), replied(2, 2, 1, 'half'), said(3, 3, 2, line))
    assert.is(conversation.trunkTokens, same.trunkTokens)
    assert.equal(
      conversation.trunk().map(({ pathTokens }) => pathTokens),
      same.trunk().map(({ pathTokens }) => pathTokens),
    )
    assert.is(conversation.node(1)!.tokens, estimateTokens.message(conversation.node(1)!.message))
    assert.is(conversation.node(3), conversation.trunk()[2])
  })

  it('are not in a request, even if they were in one before', () => {
    const conversation = told(said(1, 1, null, long))
    const frame = { system: '', tools: [], settings: {} }
    assert.match(JSON.stringify(assembleRequest(conversation, frame).request.messages), /secret/)
    const epoch = conversation.epoch
    conversation.apply(refused(2, [1]))
    assert.is(conversation.changedSince(epoch), 1)
    assert.not.match(JSON.stringify(assembleRequest(conversation, frame).request.messages), /secret/)
  })

  it('must be messages of the user', () => {
    assert.throws(
      () => told(said(1, 1, null, 'x'), replied(2, 2, 1, 'y'), refused(3, [2])),
      /withholds what is no message of the user/,
    )
    assert.throws(() => told(said(1, 1, null, 'x'), refused(2, [7])), /LOG_CORRUPT|withholds/)
  })
})

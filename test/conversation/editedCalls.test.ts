import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { factsOf } from '../../src/conversation/tree/facts.ts'
import { foldLine } from '../../src/conversation/brakes/fold/foldLine.ts'
import { callsRun } from '../../src/conversation/tree/node.ts'
import { printOf } from '../../src/conversation/brakes/stall/stepPrint.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { recordVersion, type LogRecord } from '../../src/protocol/records.ts'
import { assert, describe } from '../support/suite.ts'

const at = { v: recordVersion, time: 1, runId: 'a/r0', turnIndex: 0 } as const
const call = { callId: 'c', key: 'k', name: 'send' } as const

/** A step that sends to ann, as the model asked; or to whom else a hook says. */
function sent(to?: string, isIrreversible = true): Conversation {
  const edit =
    to === undefined ? { input: { to: 'ann' } } : ({ input: { to }, edited: true, beforeTool: true } as const)
  const records: LogRecord[] = [
    {
      ...at,
      seq: 1,
      type: 'message.added',
      nodeId: 1,
      parentId: null,
      message: { role: 'user', content: [{ type: 'text', text: 'go' }], source: 'prompt' },
    },
    {
      ...at,
      seq: 2,
      type: 'reply.end',
      nodeId: 2,
      parentId: 1,
      costUsd: 0,
      estimatedTokens: 0,
      message: {
        role: 'assistant',
        content: [{ type: 'toolCall', callId: 'c', name: 'send', input: { to: 'ann' } }],
        stopReason: 'toolUse',
        usage: noUsage,
        model: 'm',
      },
    },
    { ...at, seq: 3, type: 'tool.start', ...call, ...(isIrreversible ? { irreversible: true } : {}), ...edit },
    {
      ...at,
      seq: 4,
      type: 'tool.end',
      nodeId: 3,
      parentId: 2,
      ...call,
      message: {
        role: 'toolResult',
        callId: 'c',
        toolName: 'send',
        content: [{ type: 'text', text: 'sent' }],
        isError: false,
      },
    },
  ]
  const conversation = new Conversation()
  for (const record of records) conversation.apply(record)
  return conversation
}

const stepOf = (conversation: Conversation) => conversation.steps()[1]!
const printIn = (conversation: Conversation) => {
  const [reply, ...results] = stepOf(conversation).nodes
  return printOf(reply!, () => results)!.calls
}

describe('a call that ran with other arguments than the model gave', (it) => {
  it('is remembered by what it ran with, wherever that matters', () => {
    const edited = sent('bob')
    const [reply, ...results] = stepOf(edited).nodes
    assert.equal(callsRun(reply!, results), [{ type: 'toolCall', callId: 'c', name: 'send', input: { to: 'bob' } }])
    assert.equal(
      factsOf(edited.path).map(({ kind, input }) => [kind, input]),
      [['irreversible', '{"to":"bob"}']],
    )
    assert.match(foldLine(stepOf(edited)), /bob/)
    assert.not.match(foldLine(stepOf(edited)), /ann/)
    assert.is.not(printIn(edited), printIn(sent()), 'another call, for whoever looks for loops')
    assert.is(printIn(edited), printIn(sent('bob', false)))
  })

  it('stays as it is in what the model is shown', () => {
    const [reply] = stepOf(sent('bob')).nodes
    assert.equal(reply!.message.content, [{ type: 'toolCall', callId: 'c', name: 'send', input: { to: 'ann' } }])
  })
})

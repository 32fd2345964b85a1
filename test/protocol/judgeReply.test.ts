import { judgeReply, type ReplyVerdict } from '../../src/protocol/checks/judgeReply.ts'
import type { Block } from '../../src/protocol/messages.ts'
import type { ModelReply } from '../../src/protocol/ports/model.ts'
import { usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const said: readonly Block[] = [{ type: 'text', text: 'The answer is fort' }]
const called: readonly Block[] = [{ type: 'toolCall', callId: 'c', name: 'look', input: {} }]
const reply = (stopReason: ModelReply['stopReason'], content = said, usage = usageOf(10, 5)): ModelReply => ({
  content,
  stopReason,
  usage,
})

describe('how a reply ended', (it) => {
  const words: readonly (readonly [ReplyVerdict, readonly string[]])[] = [
    ['whole', ['stop', 'end_turn', 'tool_calls', 'STOP', 'COMPLETE', 'EOS_TOKEN']],
    ['cut', ['length', 'MAX_TOKENS', 'max_output_tokens']],
    ['refused', ['content_filter', 'content-filter', 'sensitive', 'SAFETY', 'RECITATION', 'guardrail_intervened']],
    ['paused', ['pause_turn', 'compaction']],
    ['windowFull', ['model_context_window_exceeded', 'model_length']],
    ['broken', ['insufficient_system_resource', 'network_error', 'MALFORMED_FUNCTION_CALL', 'OTHER', 'of_tomorrow']],
  ]
  for (const [verdict, each] of words) {
    it(`is ${verdict} by the words of providers for that, where nothing else says it`, () => {
      for (const word of each) assert.is(judgeReply(reply('other'), word), verdict, word)
    })
  }

  it('is broken where nothing says it', () => {
    assert.is(judgeReply(reply('other')), 'broken')
  })

  it('is as the stop reason says beside a word that is not known, and as the word says where that is worse', () => {
    assert.is(judgeReply(reply('stop'), 'of_tomorrow'), 'whole')
    assert.is(judgeReply(reply('stop'), 'content_filter'), 'refused')
    assert.is(judgeReply(reply('toolUse', called), 'max_tokens'), 'cut')
    assert.is(judgeReply(reply('length'), 'stop'), 'cut')
    assert.is(judgeReply(reply('refusal'), 'stop'), 'refused')
  })

  it('is no pause where the calls wait for results', () => {
    assert.is(judgeReply(reply('stop', called), 'pause_turn'), 'whole')
  })

  it('is empty with neither text nor call, and not with what a provider did or a picture', () => {
    for (const content of [[], [{ type: 'text', text: ' \n' }], [{ type: 'thinking', text: 'hm' }]] as const)
      assert.is(judgeReply(reply('stop', content)), 'empty')
    assert.is(judgeReply(reply('length', [])), 'cut')
    const result = { type: 'provider', provider: 'p', kind: 'result', name: 'search', data: {} } as const
    assert.is(judgeReply(reply('stop', [result])), 'whole')
  })

  it('is a full window where next to nothing came and there was no room for more', () => {
    const room = { window: 100_000, maxTokens: 8_000 }
    assert.is(judgeReply(reply('length', said, usageOf(99_000, 9)), undefined, room), 'windowFull')
    assert.is(judgeReply(reply('length', said, usageOf(50_000, 9)), undefined, room), 'cut')
    assert.is(judgeReply(reply('length', said, usageOf(99_000, 9)), undefined, { ...room, maxTokens: 10 }), 'cut')
    assert.is(judgeReply(reply('length', said, usageOf(92_000, 8_000)), undefined, room), 'cut')
    assert.is(judgeReply(reply('length', said, usageOf(99_000, 9))), 'cut')
  })
})

import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { renderSummary, truncateResult } from '../../src/conversation/request/overlay.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { estimateTokens, type TokenCounter } from '../../src/conversation/limits/tokenCounter.ts'
import type { Message } from '../../src/protocol/messages.ts'
import type { Overlay } from '../../src/protocol/records.ts'
import { histories } from '../support/arbitraries.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'
import { LogPlayer } from './logPlayer.ts'

/** Size of what the model is shown, counted from nothing. */
function recount(conversation: Conversation, overlay: Overlay | undefined, counter: TokenCounter): number {
  let tokens = overlay === undefined ? 0 : counter.text(renderSummary(overlay))
  for (const { id, message } of conversation.path) {
    const isHidden = overlay !== undefined && id >= overlay.from && id <= overlay.to
    if (isHidden && !overlay.kept.includes(id)) continue
    const isCut = overlay !== undefined && id > overlay.to && id <= overlay.recentTo
    tokens += counter.message(isCut ? truncateResult(message, overlay.maxToolOutputChars) : message)
  }
  return tokens
}

describe('tokens of the trunk', (it) => {
  it(
    'are at all times what a count from nothing gives, under summaries and cut outputs too',
    { timeoutMs: 20_000 },
    () => {
      fc.assert(
        fc.property(histories({ maxLength: 25 }), (history) => {
          const player = new LogPlayer()
          for (const happening of history) {
            player.play(happening)
            const conversation = rebuildConversation(player.log.records)
            assert.is(conversation.trunkTokens, recount(conversation, player.overlay, estimateTokens))
            assert.is(conversation.tokens, Math.round(conversation.trunkTokens * conversation.correction))
          }
        }),
        { seed: 5, numRuns: someRuns(150) },
      )
    },
  )

  it('are counted by the counter that was given, once for each message', () => {
    let counted = 0
    const counter: TokenCounter = { message: () => ((counted += 1), 10), text: () => 1 }
    const log = new LogBuilder()
    log.user('go')
    log.step('a', 'b')
    const conversation = rebuildConversation(log.records, { counter })
    assert.is(conversation.trunkTokens, 40)
    assert.is(counted, 4)
    assert.equal(
      conversation.trunk().map(({ pathTokens }) => pathTokens),
      [10, 20, 30, 40],
    )
  })

  it('do not count an open step', () => {
    const log = new LogBuilder()
    log.user('go')
    const before = rebuildConversation(log.records).trunkTokens
    log.reply([toolCall('a'), toolCall('b')])
    log.result('a')
    assert.is(rebuildConversation(log.records).trunkTokens, before)
  })
})

describe('the estimate', (it) => {
  it('grows with every kind of content', () => {
    const message = (content: readonly object[]) =>
      estimateTokens.message({ role: 'user', content, source: 'prompt' } as Message)
    const empty = message([])
    for (const block of [
      ...text('hello'),
      { type: 'image', data: 'x', mimeType: 'image/png' },
      { type: 'thinking', text: 'hm' },
      toolCall('a', { path: 'x' }),
    ]) {
      assert.ok(message([block]) > empty, block.type)
    }
    assert.ok(estimateTokens.text('x'.repeat(350)) === 100)
    assert.is(estimateTokens.text(''), 0)
  })

  it('takes arguments of any kind', () => {
    for (const input of [undefined, null, 'raw', 7, [1], { deep: { er: true } }]) {
      const content = [toolCall('a', input)]
      const tokens = estimateTokens.message({
        role: 'assistant',
        content,
        stopReason: 'toolUse',
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        model: 'm',
      })
      assert.ok(Number.isInteger(tokens) && tokens > 0)
    }
  })
})

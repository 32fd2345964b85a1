import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { histories } from '../support/arbitraries.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'
import { LogPlayer } from './logPlayer.ts'

const ids = (nodes: readonly { readonly id: number }[]): number[] => nodes.map(({ id }) => id)

describe('the conversation', (it) => {
  it('is empty before the first message', () => {
    const conversation = new Conversation()
    assert.is(conversation.head, null)
    assert.is(conversation.lastNodeId, 0)
    assert.equal(
      [conversation.trunk(), conversation.log(), conversation.abandoned(), conversation.steps()],
      [[], [], [], []],
    )
    assert.is(conversation.tokens, 0)
  })

  it('gives the first prompt an id, and every message the one before as its parent', () => {
    const log = new LogBuilder()
    log.user('hi')
    log.reply('hello')
    log.user('go on')
    const conversation = rebuildConversation(log.records)
    assert.equal(
      conversation.trunk().map(({ id, parentId, depth }) => [id, parentId, depth]),
      [
        [1, null, 1],
        [2, 1, 2],
        [3, 2, 3],
      ],
    )
    assert.is(conversation.head, 3)
    assert.is(conversation.node(2)?.message.role, 'assistant')
    assert.is(conversation.node(9), undefined)
  })

  it('keeps a reply off the trunk until its last result is in, whatever order they come in', () => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['b', 'c', 'a'],
    ]) {
      const log = new LogBuilder()
      log.user('go')
      log.reply([toolCall('a'), toolCall('b'), toolCall('c')])
      const conversation = rebuildConversation(log.records)
      assert.is(conversation.lastNodeId, 5)
      for (const callId of order) {
        assert.is(conversation.head, 1)
        assert.equal(ids(conversation.trunk()), [1])
        log.result(callId)
        conversation.apply(log.records.at(-1)!)
      }
      assert.is(conversation.head, 5)
      assert.equal(ids(conversation.trunk()), [1, 2, 3, 4, 5])
      assert.equal(
        conversation
          .trunk()
          .slice(2)
          .map(({ message }) => message.role === 'toolResult' && message.callId),
        ['a', 'b', 'c'],
      )
    }
  })

  it('shows an open step in its log, with the results so far in call order', () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([toolCall('a'), toolCall('b'), toolCall('c')])
    log.result('c')
    log.result('a')
    const conversation = rebuildConversation(log.records)
    assert.equal(ids(conversation.log()), [1, 2, 3, 5])
    assert.equal(ids(conversation.abandoned()), [])
  })

  it('groups a reply and its results into one step', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a', 'b')
    log.reply('done')
    const steps = rebuildConversation(log.records).steps()
    assert.equal(
      steps.map(({ id, endId, nodes }) => [id, endId, nodes.length]),
      [
        [1, 1, 1],
        [2, 4, 3],
        [5, 5, 1],
      ],
    )
  })

  it('never gives an id twice, summaries included', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.compact({ from: 2, to: 3 })
    const next = log.user('more')
    assert.is(next, 5)
    const conversation = rebuildConversation(log.records)
    assert.equal(ids(conversation.log()), [1, 2, 3, 5])
    assert.is(conversation.lastNodeId, 5)
  })

  it('knows every call id that was ever used', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    const conversation = rebuildConversation(log.records)
    assert.ok(conversation.hasCall('a'))
    assert.not.ok(conversation.hasCall('b'))
  })

  it('gives out arrays of the caller’s own', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    const conversation = rebuildConversation(log.records)
    conversation.trunk().length = 0
    conversation.log().pop()
    conversation.steps().pop()
    assert.equal(ids(conversation.trunk()), [1, 2, 3])
    assert.equal(ids(conversation.log()), [1, 2, 3])
    assert.is(conversation.steps().length, 2)
  })

  it('ignores a record it has applied already', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.enqueue('steering', { id: 'q1', content: text('x') })
    log.compact({ from: 2, to: 3 })
    const conversation = rebuildConversation(log.records)
    const before = view(conversation)
    for (const record of log.records) conversation.apply(record)
    assert.equal(view(conversation), before)
  })

  it('does not put a summary in force that was not applied', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.compact({ from: 2, to: 3 }, false)
    const conversation = rebuildConversation(log.records)
    assert.is(conversation.overlay, undefined)
    assert.is(conversation.lastNodeId, 3)
  })
})

/** All there is to see of a conversation. */
export const view = (conversation: Conversation) => ({
  head: conversation.head,
  lastSeq: conversation.lastSeq,
  lastNodeId: conversation.lastNodeId,
  epoch: conversation.epoch,
  correction: conversation.correction,
  tokens: conversation.trunkTokens,
  overlay: conversation.overlay,
  trunk: conversation.trunk(),
  log: conversation.log(),
  queues: structuredClone(conversation.queues),
})

describe('queues in the log', (it) => {
  it('fill, empty and keep their order', () => {
    const log = new LogBuilder()
    for (const id of ['q1', 'q2', 'q3']) log.enqueue('prompts', { id, content: text(id) })
    log.enqueue('prompts', { id: 'q0', content: text('first') }, true)
    log.enqueue('steering', { id: 's1', content: text('s') })
    log.dequeue('prompts', ['q2'])
    log.user(text('q2'))
    log.dequeue('steering', ['s1'], 'dropped')
    const { queues } = rebuildConversation(log.records)
    assert.equal(
      queues.prompts.map(({ id }) => id),
      ['q0', 'q1', 'q3'],
    )
    assert.equal(queues.steering, [])
    assert.equal(queues.followUps, [])
  })

  it('still hold what was taken until it is all on the trunk, as a crash may come between', () => {
    const log = new LogBuilder()
    log.enqueue('prompts', { id: 'p', content: text('p'), context: [{ content: text('memory') }] })
    log.enqueue('prompts', { id: 'later', content: text('later') })
    log.enqueue('steering', { id: 's', content: text('s') })
    log.dequeue('prompts', ['p'])
    log.dequeue('steering', ['s'])
    const waiting = () => {
      const { prompts, steering } = rebuildConversation(log.records).queues
      return [...prompts, ...steering].map(({ id, context }) => [id, context?.length ?? 0])
    }
    assert.equal(waiting(), [
      ['p', 1],
      ['later', 0],
      ['s', 0],
    ])
    log.user(text('s'), 'steering')
    assert.equal(waiting(), [
      ['p', 1],
      ['later', 0],
    ])
    log.user(text('memory'))
    assert.equal(waiting(), [
      ['p', 0],
      ['later', 0],
    ])
    log.dequeue('prompts', ['p'])
    assert.equal(
      waiting(),
      [
        ['p', 0],
        ['later', 0],
      ],
      'taken again after a crash',
    )
    log.user(text('p'))
    assert.equal(waiting(), [['later', 0]])
  })

  it('keep the limits of a prompt', () => {
    const log = new LogBuilder()
    log.enqueue('prompts', { id: 'q1', content: text('x'), limits: { turns: 3 } })
    assert.equal(rebuildConversation(log.records).queues.prompts[0]?.limits, { turns: 3 })
  })
})

describe('the correction of token estimates', (it) => {
  const corrected = (usage: { input: number; cacheRead?: number; cacheWrite?: number }, estimatedTokens: number) => {
    const log = new LogBuilder()
    log.user('x'.repeat(350))
    log.reply('ok', { usage, estimatedTokens })
    return rebuildConversation(log.records)
  }

  it('is what the provider reported over what was expected, cached tokens included', () => {
    assert.is(corrected({ input: 100, cacheRead: 40, cacheWrite: 10 }, 100).correction, 1.5)
  })

  it('stays within reason, and is 1 when nothing is known', () => {
    assert.is(corrected({ input: 1 }, 1_000).correction, 0.25)
    assert.is(corrected({ input: 90_000 }, 10).correction, 4)
    assert.is(corrected({ input: 0 }, 100).correction, 1)
    assert.is(corrected({ input: 100 }, 0).correction, 1)
  })

  it('applies to the trunk’s tokens', () => {
    const conversation = corrected({ input: 200 }, 100)
    assert.is(conversation.tokens, conversation.trunkTokens * 2)
  })
})

describe('any history', (it) => {
  it('folds to the trunk it was made as, the same all at once and record by record', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(histories({ maxLength: 25 }), (history) => {
        const player = new LogPlayer()
        const live = new Conversation()
        let applied = 0
        for (const happening of history) {
          player.play(happening, () => {
            for (; applied < player.log.records.length; applied++) live.apply(player.log.records[applied]!)
            assert.equal(view(live), view(rebuildConversation(player.log.records)))
            assert.is(live.lastNodeId, player.log.lastNodeId)
          })
          assert.equal(
            live.steps().map(({ nodes }) => ids(nodes)),
            player.steps.map((step) => step.ids),
          )
          assert.is(live.head, player.log.head)
        }
      }),
      { seed: 1, numRuns: someRuns(150) },
    )
  })
})

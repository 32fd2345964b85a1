import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'

const view = (conversation: Conversation) => [
  conversation.head,
  conversation.lastSeq,
  conversation.lastNodeId,
  conversation.epoch,
  conversation.correction,
  conversation.trunkTokens,
  conversation.overlay,
  conversation.trunk(),
  conversation.log(),
  structuredClone(conversation.queues),
  ['a', 'b', 'new', 'open1', 'open2'].map((callId) => conversation.hasCall(callId)),
]

/** Two sealed steps, a user message, and a step left open with one of its two results in. */
function openLog(): LogBuilder {
  const log = new LogBuilder()
  log.user('go')
  log.step('a')
  log.step('b')
  log.user('more')
  log.reply([toolCall('open1'), toolCall('open2')])
  log.result('open1')
  return log
}

/** The same without the open step. */
function sealedLog(): LogBuilder {
  const log = openLog()
  log.result('open2')
  return log
}

type Change = (record: Record<string, unknown>) => Record<string, unknown>

/** The log, and its next record spoilt. */
const cases: {
  readonly [title: string]: {
    readonly log: () => LogBuilder
    readonly next: (log: LogBuilder) => unknown
    readonly spoil?: Change
  }
} = {
  'a seq is missing': {
    log: sealedLog,
    next: (log) => log.user('x'),
    spoil: (record) => ({ ...record, seq: (record['seq'] as number) + 1 }),
  },
  'a message is not after the head': {
    log: sealedLog,
    next: (log) => log.user('x'),
    spoil: (record) => ({ ...record, parentId: 2 }),
  },
  'a message has no parent though there is a head': {
    log: sealedLog,
    next: (log) => log.user('x'),
    spoil: (record) => ({ ...record, parentId: null }),
  },
  'a message has a parent that does not exist': {
    log: sealedLog,
    next: (log) => log.user('x'),
    spoil: (record) => ({ ...record, parentId: 99 }),
  },
  'a message has a taken id': {
    log: sealedLog,
    next: (log) => log.user('x'),
    spoil: (record) => ({ ...record, nodeId: 3 }),
  },
  'a message comes while a step is open': { log: openLog, next: (log) => log.user('x') },
  'a reply is not after the head': {
    log: sealedLog,
    next: (log) => log.reply('x'),
    spoil: (record) => ({ ...record, parentId: 1 }),
  },
  'a reply has a taken id': {
    log: sealedLog,
    next: (log) => log.reply('x'),
    spoil: (record) => ({ ...record, nodeId: 1 }),
  },
  'a reply comes while a step is open': { log: openLog, next: (log) => log.reply('x') },
  'a reply makes the same call twice': { log: sealedLog, next: (log) => log.reply([toolCall('new'), toolCall('new')]) },
  'a reply makes a call of an earlier reply': {
    log: sealedLog,
    next: (log) => log.reply([toolCall('new'), toolCall('a')]),
  },
  'a result has no open step': {
    log: sealedLog,
    next: (log) => log.user('x'),
    spoil: (record) => ({ ...resultOf('a'), seq: record['seq'] }),
  },
  'a result has no call': {
    log: openLog,
    next: (log) => log.result('open2'),
    spoil: (record) => ({ ...record, callId: 'unheard-of' }),
  },
  'a result comes twice': { log: openLog, next: (log) => log.result('open1') },
  'a result has another’s place': {
    log: openLog,
    next: (log) => log.result('open2'),
    spoil: (record) => ({ ...record, nodeId: 8, parentId: 7 }),
  },
  'a result has another parent': {
    log: openLog,
    next: (log) => log.result('open2'),
    spoil: (record) => ({ ...record, parentId: 7 }),
  },
  'a result answers another call than it says': {
    log: openLog,
    next: (log) => log.result('open2'),
    spoil: (record) => ({ ...record, message: { ...(record['message'] as object), callId: 'open1' } }),
  },
  'a summary has a taken id': { log: sealedLog, next: (log) => log.compact({ from: 2, to: 3, nodeId: 5 }) },
  'a summary covers what is not on the trunk': { log: sealedLog, next: (log) => log.compact({ from: 2, to: 99 }) },
  'a summary begins after it ends': { log: sealedLog, next: (log) => log.compact({ from: 4, to: 3 }) },
  'a summary begins inside a step': { log: sealedLog, next: (log) => log.compact({ from: 3, to: 5 }) },
  'a summary ends inside a step': { log: sealedLog, next: (log) => log.compact({ from: 2, to: 4 }) },
  'a summary ends inside the last step': { log: sealedLog, next: (log) => log.compact({ from: 2, to: 8, kept: [6] }) },
  'a summary hides a user message': { log: sealedLog, next: (log) => log.compact({ from: 2, to: 6, kept: [] }) },
  'a summary keeps what is not in its span': {
    log: sealedLog,
    next: (log) => log.compact({ from: 2, to: 3, kept: [1] }),
  },
  'a summary keeps a node that does not exist': {
    log: sealedLog,
    next: (log) => log.compact({ from: 2, to: 3, kept: [77] }),
  },
  'a summary keeps user messages in another order': {
    log: () => {
      const log = sealedLog()
      log.user('again')
      return log
    },
    next: (log) => log.compact({ from: 1, to: 10, kept: [10, 6, 1] }),
  },
  'a fold has not a line for each step': {
    log: sealedLog,
    next: (log) => log.fold([2, 4]),
    spoil: (record) => ({ ...record, memo: 'n2 tool' }),
  },
  'a fold has no memo': {
    log: sealedLog,
    next: (log) => log.fold([2]),
    spoil: ({ memo: _, ...record }) => record,
  },
  'a fold hides a message of a person': {
    log: sealedLog,
    next: (log) => log.fold([2]),
    spoil: (record) => ({ ...record, steps: [1] }),
  },
  'a fold hides what is hidden already': {
    log: () => {
      const log = sealedLog()
      log.fold([2])
      return log
    },
    next: (log) => log.fold([4]),
    spoil: (record) => ({ ...record, steps: [2] }),
  },
  'a fold hides a step twice': {
    log: sealedLog,
    next: (log) => log.fold([2, 4]),
    spoil: (record) => ({ ...record, steps: [2, 2] }),
  },
  'a fold hides steps in another order than the trunk has them': {
    log: sealedLog,
    next: (log) => log.fold([2, 4]),
    spoil: (record) => ({ ...record, steps: [4, 2] }),
  },
  'a fold rolls up one that is not there': {
    log: () => {
      const log = sealedLog()
      log.fold([2])
      return log
    },
    next: (log) => log.fold([4], 'n4 tool', { rolled: [{ folds: ['f2'], detail: 'shortLine', memo: 'n2' }] }),
    spoil: (record) => ({ ...record, rolled: [{ folds: ['f9'], detail: 'shortLine', memo: 'n2' }] }),
  },
  'a memo is rolled up with a line too many': {
    log: () => {
      const log = sealedLog()
      log.fold([2])
      return log
    },
    next: (log) => log.fold([4], 'n4 tool', { rolled: [{ folds: ['f2'], detail: 'shortLine', memo: 'n2' }] }),
    spoil: (record) => ({ ...record, rolled: [{ folds: ['f2'], detail: 'shortLine', memo: 'n2\nn4' }] }),
  },
  'a summary comes while a step is open': { log: openLog, next: (log) => log.compact({ from: 2, to: 3 }) },
}

function resultOf(callId: string): Record<string, unknown> {
  const log = new LogBuilder()
  log.user('x')
  log.step(callId)
  return { ...log.records.at(-1)! }
}

describe('a record that does not follow from the log', (it) => {
  for (const [title, { log: makeLog, next, spoil }] of Object.entries(cases)) {
    it(`is refused, and changes nothing, when ${title}`, () => {
      const log = makeLog()
      const conversation = rebuildConversation(log.records)
      const before = view(conversation)
      next(log)
      const sound = log.records.at(-1)!
      const spoilt = (spoil?.({ ...sound }) ?? sound) as unknown as LogRecord
      assert.throws(
        () => conversation.apply(spoilt),
        (thrown) =>
          thrown instanceof RuntimeError &&
          thrown.code === 'LOG_CORRUPT' &&
          thrown.message.includes(`Record ${spoilt.seq}`),
      )
      assert.equal(view(conversation), before)
    })

    // Proves that the case is about its flaw alone.
    if (spoil !== undefined) {
      it(`would be taken but for that flaw: ${title}`, () => {
        const log = makeLog()
        next(log)
        rebuildConversation(log.records)
      })
    }
  }

  it('lets the right one in afterwards', () => {
    const log = openLog()
    const conversation = rebuildConversation(log.records)
    log.result('open2')
    const sound = log.records.at(-1)!
    assert.throws(() => conversation.apply({ ...sound, seq: sound.seq + 1 }))
    conversation.apply(sound)
    assert.is(conversation.head, 9)
  })

  it('is found by a rebuild too', () => {
    const log = sealedLog()
    log.enqueue('steering', { id: 'q', content: text('x') })
    const records = log.records.toSpliced(2, 1)
    assert.throws(() => rebuildConversation(records), /Record 4 .* seq 3 is missing/)
  })
})

import { applyPrune } from '../../src/conversation/brakes/prune/planPrune.ts'
import { defaultRevertPolicy, planRevert } from '../../src/conversation/brakes/revert/planRevert.ts'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'

/** The records with more after them, as the machine would number them. */
function after(log: LogBuilder, ...bodies: readonly object[]): LogRecord[] {
  const first = log.records.length + 1
  const more = bodies.map((body, at) => ({ v: 3, seq: first + at, time: 0, runId: 'a/r0', turnIndex: 0, ...body }))
  return [...log.records, ...(more as LogRecord[])]
}

const request = (by: 'model' | 'person') => ({ id: 'r1', by, category: 'failure', step: 'n9' })
const refused = { type: 'revert.applied', id: 'r1', applied: false, category: 'failure', requested: 'n9', reason: 'no' }

describe('a refused revert', (it) => {
  it('leaves a note for the model that asked, and none when a person did', () => {
    for (const [by, notes] of [
      ['model', ['no']],
      ['person', []],
    ] as const) {
      const log = new LogBuilder()
      log.user('go')
      log.step('a')
      const { annotations } = rebuildConversation(
        after(log, { type: 'revert.requested', request: request(by) }, refused),
      )
      assert.equal(
        annotations?.noticesAt(3).map((notice) => notice.text),
        notes,
      )
      assert.equal(annotations?.waiting.reverts, [])
    }
  })

  it('leaves no note in the middle of a step, where an abort cut it off', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.reply([toolCall('b'), toolCall('c')])
    log.result('b')
    const conversation = rebuildConversation(
      after(log, { type: 'revert.requested', request: request('model') }, refused),
    )
    assert.equal([...(conversation.annotations?.notices ?? [])], [])
    assert.is(conversation.epoch, 0)
  })
})

describe('a prune', (it) => {
  it('is refused in a few words, whatever it was given: the model reads them for a long time', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{}])
    const { reason = '' } = log.prune({ steps: ['x'.repeat(1_000_000), ...Array.from({ length: 500 }, () => 'n77')] })
    assert.match(reason, /^prune refused: "x{39}…" is not on the current trunk; n77 is not .*; and 491 more$/)
    assert.ok(reason.length < 500, String(reason.length))
  })

  it('does not hide the last step that a summary stands for, be it a single node', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.reply('said')
    log.compact({ from: 2, to: 4 })
    log.user('more')
    log.step('b')
    log.step('c')
    const conversation = rebuildConversation(log.records)
    const { applied, reason } = applyPrune(conversation, { id: 'p', by: 'model', steps: ['n4'] })
    assert.equal([applied, reason], [false, 'prune refused: n4 is at or before a compaction summary'])
    assert.equal(applyPrune(conversation, { id: 'p', by: 'model', tokens: 1 }).steps, [7])
  })
})

describe('a revert into a summarised span', (it) => {
  it('is refused for every node of it, the last one too; the summary itself may be named', () => {
    const log = new LogBuilder()
    log.user('go')
    for (const callId of ['a', 'b', 'c']) log.step(callId)
    const { nodeId } = log.compact({ from: 2, to: 5 })
    const conversation = rebuildConversation(log.records)
    const planOf = (step: string) =>
      planRevert(conversation, { id: 'r', by: 'model', category: 'failure', step }, defaultRevertPolicy)
    for (const step of ['n2', 'n3', 'n4', 'n5'])
      assert.is(planOf(step), `revert refused: ${step} was compacted; nearest targets: n1, n${nodeId}, n7`)
    const plan = planOf(`n${nodeId}`)
    assert.is(typeof plan === 'string' ? plan : plan.target.id, 5)
  })
})

describe('two prunes of one drain', (it) => {
  it('do not hide a step twice: the second takes the next one, or is refused', () => {
    const log = new LogBuilder()
    log.user('go')
    for (const callId of ['a', 'b', 'c']) log.step(callId)
    const conversation = rebuildConversation(log.records)
    const taken = new Set(applyPrune(conversation, { id: 'p1', by: 'model', tokens: 1 }).steps)
    assert.equal([...taken], [2])
    assert.equal(applyPrune(conversation, { id: 'p2', by: 'model', tokens: 1 }, taken).steps, [4])
    const { reason } = applyPrune(conversation, { id: 'p3', by: 'model', steps: ['n3'] }, taken)
    assert.is(reason, 'prune refused: n3 is hidden already')
  })
})

describe('the request after a reply that was cut off', (it) => {
  it('is valid without its thinking, signed or not: what is sent is the text alone', () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([{ type: 'thinking', text: 'hm', signature: 'seal' }, ...text('half of it')], { stopReason: 'aborted' })
    log.user('again')
    const conversation = rebuildConversation(log.records)
    const { request: sent } = assembleRequest(conversation, { system: '', tools: [], settings: {} })
    assert.equal(sent.messages[1]?.content, text('half of it'))
    assert.equal(checkRequest(sent, { trunk: conversation.path }), [])
  })
})

import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { evidenceOf } from '../../src/conversation/brakes/evidence.ts'
import { nameIndex } from '../../src/conversation/names/nameIndex.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { stallOf } from '../../src/conversation/brakes/stall/stall.ts'
import { trunkSums } from '../../src/conversation/limits/trunkSums.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { withCode } from '../support/agentHarness.ts'
import { BrakeLog, textIn } from '../support/brakeLog.ts'
import { askRecall } from '../support/recalled.ts'
import { assert, describe } from '../support/suite.ts'
import { abandoned, graft } from './abandonedLogs.ts'

describe('copies', (it) => {
  it('are no second effect: no evidence, no facts, no stall, no use of a name', () => {
    const log = abandoned()
    log.graft('n2', 'n4')
    const copies = log.conversation.trunk().slice(1)
    assert.equal(evidenceOf(copies), { calls: [], changed: [] })
    const facts = () => textIn(log.assemble().request.messages).match(/cannot be undone: edit/g)?.length
    assert.is(facts(), 1)
    log.step([{}])
    log.prune({ steps: ['n9'], memo: 'm' })
    assert.is(facts(), 1, 'the note on the branch that they come from lists it')
    const { tag } = log.revert('n1', 'again')
    assert.equal(
      tag?.evidence.calls.map(({ name, attempts }) => [name, attempts]),
      [['tool', 1]],
    )
    assert.is(facts(), 1)
  })

  it('of a denied call keep what the person said, once', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'deploy', denied: 'never on Fridays' }])
    log.revert('n1')
    log.graft('n2')
    const { messages } = log.assemble().request
    assert.is(textIn(messages).match(/denied by a person: deploy/g)?.length, 1)
    assert.match(textIn(messages.slice(-1)), /^Denied by the user: it was not run\. Reason: never on Fridays/)
    log.step([{}])
    log.prune({ steps: ['n4'] })
    assert.is(textIn(log.assemble().request.messages).match(/denied by a person: deploy/g)?.length, 1)
  })

  it('are no steps of a loop', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let at = 0; at < 2; at++) {
      log.step([{ name: 'look', input: { at: 1 }, output: 'the same' }])
      log.revert('n1')
    }
    log.graft('n2', 'n4')
    assert.is(stallOf(log.conversation), undefined)
    log.step([{ name: 'look', input: { at: 1 }, output: 'the same' }])
    assert.equal(stallOf(log.conversation)?.steps, [2, 4, 10])
  })

  it('say nothing of how a request grows, nor of what names the agent uses', () => {
    const said = (isGrafted: boolean) => {
      const log = new BrakeLog()
      log.user('go')
      log.step([{ name: 'look', input: { path: 'src/aLongName.ts' }, output: 'x'.repeat(4_000) }])
      log.revert('n1')
      log.step([{ input: { path: 'src/anotherName.ts' } }])
      log.step([{}])
      if (isGrafted) log.graft('n2')
      log.step([{}])
      return log
    }
    assert.is(trunkSums(said(true).conversation).growth, trunkSums(said(false).conversation).growth)
    const hidden = said(true)
    const steps = new Set(hidden.conversation.steps().map(({ id }) => id))
    const index = nameIndex(hidden.conversation, steps, '', 60)
    assert.match(index, /src\/aLongName\.ts/)
  })

  it('can be pinned, pruned, folded, compacted and reverted as any step', () => {
    const log = abandoned()
    log.graft('n2')
    log.step([{ output: 'x'.repeat(900) }])
    assert.is(log.pin('n8').step, 7)
    assert.match(log.prune({ steps: ['n7'] }).reason ?? '', /n7 is pinned/)
    log.step([{ output: 'x'.repeat(900) }])
    log.compact({ first: 1, recent: 1 })
    const { request } = log.assemble()
    assert.equal(checkRequest(request, { trunk: log.conversation.path }), [])
    assert.match(textIn(request.messages), /the port is 8123/)
    log.pin('n8', false)
    assert.is(log.revert('n1').applied, true)
    assert.equal(log.trunkIds(), [1])
    assert.equal(
      log.graft('n7').copies.map(({ from }) => from),
      [2, 3],
    )
    log.step([{ output: 'x'.repeat(900) }])
    log.step([{}])
    assert.ok(log.fold({}, true))
    assert.equal(checkRequest(log.assemble().request, { trunk: log.conversation.path }), [])
  })

  it('are recalled as what they are copies of, unless they are in sight', () => {
    const log = abandoned()
    assert.match(askRecall(log.conversation, { query: 'port 8123' }).text, /^n2 \(reverted\)/)
    log.graft('n2')
    assert.is(askRecall(log.conversation, { step: 'n3' }).text, 'n3 is shown in full above, as n7.')
    assert.not.match(askRecall(log.conversation, { query: 'port 8123' }).text, /port is 8123/)
    log.step([{}])
    log.prune({ steps: ['n7'] })
    assert.match(askRecall(log.conversation, { step: 'n3' }).text, /^n2 \(reverted\):[^]*8123/)
    assert.match(askRecall(log.conversation, { step: 'n7' }).text, /^n7 \(hidden\):[^]*8123/)
    assert.is(askRecall(log.conversation, { query: 'port 8123' }).text.match(/8123/g)?.length, 1)
  })

  it('of another log are refused where they do not follow from it', () => {
    const log = abandoned()
    const next = (outcome: object) => () =>
      rebuildConversation(
        [
          ...log.records,
          {
            v: 3,
            seq: 99,
            time: 1,
            runId: 'a/r0',
            turnIndex: 9,
            ...outcome,
            type: 'graft.applied',
            id: 'g',
          } as LogRecord,
        ].map((record, at) => ({ ...record, seq: at + 1 })),
      )
    const copies = (...pairs: [number, number][]) => ({ applied: true, requested: [], copies: graft(pairs) })
    assert.not.throws(next(copies([7, 2], [8, 3])))
    for (const [what, outcome] of [
      ['nothing', copies()],
      ['refused', { ...copies([7, 2], [8, 3]), applied: false }],
      ['ids', copies([8, 2], [9, 3])],
      ['unheard of', copies([7, 50])],
      ['a person', copies([7, 1])],
      ['a result alone', copies([7, 3])],
      ['no order', copies([7, 4], [8, 5], [9, 6], [10, 2], [11, 3])],
      ['a reply without what it called', copies([7, 2])],
      ['the result of another', copies([7, 2], [8, 5])],
    ] as const)
      assert.throws(next(outcome), withCode('LOG_CORRUPT'), what)
    const rebased = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    rebased.user('go')
    rebased.step([{}])
    rebased.user('and more')
    rebased.revert('n1')
    const again = { v: 3, seq: rebased.records.length + 1, time: 1, runId: 'a/r0', turnIndex: 9 }
    const said = { ...again, type: 'graft.applied', id: 'g', ...copies([6, 4]) } as LogRecord
    assert.throws(() => rebased.conversation.apply(said), withCode('LOG_CORRUPT', 'a message of a person'))
  })
})

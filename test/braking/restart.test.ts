import type { LogRecord } from '../../src/protocol/records.ts'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { defaultTagPolicy } from '../../src/conversation/request/visibleTags.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, notesIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const throughAFile = (records: readonly object[]) => JSON.parse(JSON.stringify(records))

describe('a braked conversation after a restart', (it) => {
  it('has its head on the trunk, its tags, hidden steps, refusals and the same request', async (context) => {
    const { agent, records, script } = await startAgent(context, {
      braking: { revert: true, prune: true },
      tools: [tool('look', (_, { changed }) => changed('a.ts'))],
      replies: [
        calls('a', 'look'),
        calls('b', 'look'),
        calls('c', 'look', 'look'),
        calls('d', ['revert_to_state', { category: 'failure', step: 'n5', summary: 'no' }]),
        calls(
          'e',
          ['prun', { steps: ['n3'], memo: 'looked' }],
          ['revert_to_state', { category: 'failure', step: 'n99' }],
        ),
        'done',
      ],
    })
    await agent.prompt('go').result
    const restarted = rebuildConversation(throughAFile(await records()))
    assert.is(restarted.head, agent.conversation.head)
    assert.equal(restarted.trunk(), agent.conversation.trunk())
    assert.equal(restarted.tags(), agent.conversation.tags())
    assert.is(restarted.tokens, agent.conversation.tokens)
    assert.equal(
      (restarted.annotations?.hidden.spans ?? []).flatMap(({ steps }) => steps),
      [2],
    )
    const { system, tools, settings } = script.requests[5]!
    const frame = { system, tools, settings, braking: defaultTagPolicy }
    const { messages } = new RequestAssembler(restarted, frame).assemble(6).request
    assert.equal(messages.slice(0, -1), script.requests[5]!.messages)
    assert.equal(
      notesIn(messages).map((note) => /kind="(\w+)"/.exec(note)?.[1]),
      ['memo', 'lesson', 'refusal'],
    )
  })

  it('goes on from the trunk, with ids after all that were ever given, rebased and summary ids included', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('go')
    log.step([{}])
    log.user('also this')
    log.step([{}])
    assert.equal(log.revert('n3').rebased, [{ nodeId: 7, from: 4 }])
    for (let n = 0; n < 3; n++) log.step([{}])
    assert.is(log.compact({ first: 1, recent: 1 }), 14)
    const restarted = rebuildConversation(throughAFile(log.records))
    assert.equal([restarted.head, restarted.lastNodeId], [13, 14])
    assert.is(log.user('more'), 15)
    restarted.apply(log.records.at(-1)!)
    assert.equal(restarted.node(15)?.parentId, 13)
    assert.equal(
      restarted.trunk().flatMap(({ id, rebasedFrom }) => (rebasedFrom === undefined ? [] : [[id, rebasedFrom]])),
      [[7, 4]],
    )
  })

  it('still has what was asked for and not drained', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{}])
    log.step([{}])
    log.revert('n3')
    const asked = log.records.findIndex(({ type }) => type === 'revert.requested')
    const crashed = rebuildConversation(log.records.slice(0, asked + 1))
    assert.equal(
      crashed.annotations?.waiting.reverts.map(({ step }) => step),
      ['n3'],
    )
    assert.is(crashed.head, 5)
    assert.equal(rebuildConversation(log.records).annotations?.waiting.reverts, [])
  })

  it('is refused as corrupt when a revert in the log does not follow from it', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{}, {}])
    log.step([{}])
    log.revert('n4')
    const at = log.records.findIndex(({ type }) => type === 'revert.applied')
    for (const wrong of [{ target: 99 }, { target: 3 }, { target: 2 }, { rebased: [{ nodeId: 9, from: 1 }] }]) {
      const records = log.records.with(at, { ...log.records[at]!, ...wrong } as LogRecord)
      assert.throws(() => rebuildConversation(records), /does not follow from the log/)
    }
  })
})

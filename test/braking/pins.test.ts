import { defaultCompactionPolicy, planCompaction } from '../../src/conversation/brakes/compaction/planCompaction.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { conversationGraph } from '../../packages/charts/src/conversationGraph.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { exportSession } from '../../packages/sessions/src/exportSession.ts'
import { importSession } from '../../packages/sessions/src/importSession.ts'
import { loadSession } from '../../packages/sessions/src/loadSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { calls, gate, quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { BrakeLog, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const seen = tool('look', () => 'seen')

/** A prompt and this many steps of the model. */
function worked(steps: number, log = new BrakeLog()): BrakeLog {
  log.user('go')
  for (let at = 0; at < steps; at++) log.step([{ output: `output ${at} ${'x'.repeat(300)}` }])
  return log
}

describe('a pin', (it) => {
  it('names a step by any of its nodes, and changes no request by a byte', () => {
    const log = worked(3)
    const before = JSON.stringify(log.assemble().request)
    assert.equal(log.pin('n3'), { id: 'i0', applied: true, requested: 'n3', pinned: true, step: 2 })
    assert.is(log.pin('4').step, 4)
    assert.equal(log.conversation.pins(), [2, 4])
    assert.is(JSON.stringify(log.assemble().request), before)
    assert.is(log.pin('n2', false).applied, true)
    assert.equal(log.conversation.pins(), [4])
  })

  it('says what is wrong, and then changes nothing', () => {
    const log = worked(3)
    log.revert('n5')
    log.prune({ steps: ['n2'] })
    log.step([{}])
    log.pin('n4')
    const refused = (step: string, pinned = true) => {
      const { applied, reason } = log.pin(step, pinned)
      return [applied, reason]
    }
    assert.equal(refused('n99'), [false, 'pin refused: n99 not found'])
    assert.equal(refused('the first'), [false, 'pin refused: "the first" not found'])
    assert.equal(refused('n6'), [false, 'pin refused: n6 is not on the current trunk'])
    assert.equal(refused('n3'), [false, 'pin refused: n3 is hidden already'])
    assert.equal(refused('n5'), [false, 'pin refused: n5 is pinned already'])
    assert.equal(refused('n1', false), [false, 'unpin refused: n1 is not pinned'])
    assert.equal(log.conversation.pins(), [4])
  })

  it('is not for a step that a summary stands for, but for the summary and the messages of people in it', () => {
    const log = worked(2)
    log.user('and this')
    for (let at = 0; at < 3; at++) log.step([{}])
    const summary = log.compact({ recent: 2 })!
    assert.is(log.pin('n4').reason, `pin refused: n4 was compacted; the summary is n${summary}`)
    assert.is(log.pin('n6').applied, true)
    assert.is(log.pin(summary).step, summary)
  })

  it('keeps a step from every prune', () => {
    const log = worked(4)
    log.pin('n2')
    assert.is(log.prune({ steps: ['n3'] }).reason, 'prune refused: n3 is pinned')
    assert.equal(log.prune({ tokens: 10 }).steps, [4])
    log.pin('n6')
    assert.is(log.prune({ tokens: 10 }).reason, 'prune refused: there is no step that may be hidden (pinned: n3, n7)')
  })

  it('keeps a step from every revert, a message of a person too', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    worked(2, log)
    log.user('and this')
    log.step([{}])
    log.pin('n5')
    assert.match(log.revert('n3').reason ?? '', /^revert refused: n5 is pinned\. /)
    log.pin('n5', false)
    log.pin('n6')
    assert.match(log.revert('n3').reason ?? '', /^revert refused: n6 is pinned\. /)
    assert.is(log.revert('n6').applied, true)
  })

  it('keeps a step word for word under every compaction, and its results uncut after one', () => {
    const log = worked(8)
    log.pin('n4')
    log.pin('n14')
    const summary = log.compact({ recent: 3 })!
    assert.is(log.conversation.overlay?.nodeId, summary)
    const shown = () => textIn(log.assemble().request.messages)
    for (const at of [1, 6]) assert.ok(shown().includes(`output ${at} ${'x'.repeat(300)}`), String(at))
    assert.not.match(shown(), /output [0234] /)
    assert.match(shown(), /output [57] [^]*characters left out/)
    log.step([{}])
    log.step([{}])
    log.compact({ recent: 1, summary: 'more' })
    for (const at of [1, 6]) assert.ok(shown().includes(`output ${at} ${'x'.repeat(300)}`), `again ${at}`)
  })

  it('on a summary keeps it in its place', () => {
    const log = worked(6)
    log.pin(log.compact({ recent: 2 })!)
    log.step([{}])
    log.step([{}])
    assert.is(
      planCompaction(log.conversation, { ...defaultCompactionPolicy, keepRecent: 1 }, 0),
      'the summary n14 is pinned: no other takes its place',
    )
    assert.match(log.revert('n1').reason ?? '', /^revert refused: n14 is pinned\. /)
  })

  it('that a step lost to the log is refused: a log that hides one is not from here', () => {
    const log = worked(4)
    log.pin('n2')
    const at = log.records.length
    const next = (body: object) => [
      ...log.records,
      { v: 3, seq: at + 1, time: at, runId: 'a/r0', turnIndex: 9, ...body } as LogRecord,
    ]
    const revert = { type: 'revert.applied', id: 'r', applied: true, category: 'failure', requested: 'n1', target: 1 }
    const evidence = { calls: [], changed: [] }
    const tag = { kind: 'lesson', text: 't', turnIndex: 1, abandoned: [2, 3], evidence }
    const overlay = {
      nodeId: log.conversation.lastNodeId + 1,
      from: 2,
      to: 5,
      summary: 's',
      kept: [],
      recentTo: 9,
      maxToolOutputChars: 100,
    }
    const ended = { type: 'compaction.end', applied: true, tokensBefore: 0, tokensAfter: 0, costUsd: 0 }
    for (const body of [
      { type: 'prune.applied', id: 'p', applied: true, steps: [2], tokens: 1 },
      { ...revert, tag },
      { ...ended, overlay },
      { type: 'pin.applied', id: 'i', applied: true, requested: 'n3', pinned: true, step: 2 },
      { type: 'pin.applied', id: 'i', applied: true, requested: 'n3', pinned: true },
    ])
      assert.throws(() => rebuildConversation(next(body)), withCode('LOG_CORRUPT'), JSON.stringify(body))
    const whole = { ...overlay, kept: [2, 3] }
    assert.is(rebuildConversation(next({ ...ended, overlay: whole })).overlay?.nodeId, overlay.nodeId)
  })

  it('changes no request of an agent without brakes either, also after a restart', () => {
    const log = worked(3)
    log.user('see [n2] and <brake-note kind="lesson">go back</brake-note>')
    const { system, tools, settings } = log.frame
    const requestOf = (records: readonly LogRecord[]) =>
      JSON.stringify(assembleRequest(rebuildConversation(records), { system, tools, settings }).request)
    const before = requestOf(log.records)
    log.pin('n3')
    assert.is(requestOf(log.records), before)
  })

  it('by a person at rest holds at once, without any braking, and through a fork, an export and a restart', async (context) => {
    const { agent, until, store, ofType, records } = await startAgent(context, {
      tools: [seen],
      replies: [calls('a', 'look'), 'done', 'and more'],
    })
    await agent.prompt('go').result
    agent.pin('n3')
    agent.pin('n1')
    agent.unpin('n1')
    await until((event) => event.type === 'pin.applied' && !event.pinned)
    assert.equal(agent.conversation.pins(), [2])
    assert.equal(
      ofType('pin.applied').map(({ applied, step }) => [applied, step]),
      [
        [true, 2],
        [true, 1],
        [true, 1],
      ],
    )
    assert.is(ofType('pin.requested')[0]?.request.by, 'person')
    assert.equal(rebuildConversation(await records()).pins(), [2])
    await forkSession(store, agent.id, 4, { id: 'fork' })
    const fork = await loadSession(store, 'fork')
    assert.equal(fork.conversation.pins(), [], 'it was pinned later')
    await agent.prompt('more').result
    await forkSession(store, agent.id, 6, { id: 'later' })
    assert.equal((await loadSession(store, 'later')).conversation.pins(), [2])
    const other = memoryStore()
    await importSession(other, exportSession(store, agent.id))
    const session = await loadSession(other, agent.id)
    assert.equal(session.conversation.pins(), [2])
    assert.match(conversationGraph(session), /n2–n3 .*\(pinned\)/)
    assert.match(conversationGraph(session, { format: 'svg' }), /\(pinned\)/)
    assert.is(conversationGraph(session, { format: 'json' }).steps[1]?.isPinned, true)
  })

  it('in the middle of a run is decided before the reverts of the same turn', async (context) => {
    const open = gate()
    const { agent, ofType, until } = await startAgent(context, {
      braking: { revert: true },
      tools: [seen, tool('slow', () => open.promise)],
      replies: [
        calls('a', 'look'),
        calls('b', ['revert_to_state', { category: 'failure', step: 'n1', summary: 'no' }], 'slow'),
        'done',
      ],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.pin('n3')
    await quiet()
    assert.is(ofType('pin.applied').length, 0)
    open.resolve()
    await run.result
    assert.is(ofType('pin.applied')[0]?.applied, true)
    assert.match(ofType('revert.applied')[0]?.reason ?? '', /^revert refused: n3 is pinned/)
  })

  it('that waits is not lost to an abort, nor to a restart', async (context) => {
    const open = gate()
    const { agent, ofType, untilState, until } = await startAgent(context, {
      tools: [tool('slow', () => open.promise)],
      replies: [calls('a', 'slow')],
    })
    const run = agent.prompt('go')
    await untilState('executing')
    agent.pin('n1')
    agent.abort()
    open.resolve()
    await run.result
    await until(({ type }) => type === 'pin.applied')
    assert.equal([ofType('pin.applied')[0]?.applied, agent.conversation.pins()], [true, [1]])
  })
})

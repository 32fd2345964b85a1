import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Session, Turn } from '../src/session.ts'
import { sessionOf, SessionProjection } from '../src/sessionProjection.ts'
import { summaryOf } from '../src/listSessions.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import {
  calls,
  delta,
  done,
  gate,
  never,
  startAgent,
  stalled,
  tool,
  usageOf,
  type Harness,
  type HarnessOptions,
} from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { created } from './sessionLogs.ts'

const pricing = { input: 1_000_000, output: 1_000_000 }
const look = () => tool('look', () => 'seen')

/** Session by a live listener, and session by the log in the end, which must be the same. */
async function sessionsOf({ agent, records }: Pick<Harness, 'agent' | 'records'>): Promise<Session> {
  await agent.stop()
  const log = await records()
  const session = sessionOf(log)
  const live = new SessionProjection()
  for (const record of log) {
    live.apply(record)
    assert.is(live.session.updatedAt, record.time)
  }
  assert.equal(live.session, session)
  assert.equal(session, JSON.parse(JSON.stringify(session)), 'a session is plain JSON')
  return session
}

const start = (context: CaseContext, options: HarnessOptions) => startAgent(context, { pricing, ...options })

const statusesOf = ({ status, runs }: Session) => [
  status,
  runs.map((run) => [run.status, run.turns.map((turn) => turn.status)]),
]

const callsOf = ({ toolCalls }: Turn) => toolCalls.map(({ callId, status, synthetic }) => [callId, status, synthetic])

describe('the session of an agent', (it) => {
  it('has its runs, their turns, what was said in them, their calls, usage and cost', async (context) => {
    const harness = await start(context, {
      tools: [look()],
      settings: { temperature: 0 },
      replies: [calls('a', 'look', 'look'), 'found', 'again'],
    })
    const { agent, clock } = harness
    await clock.advance(1_000)
    const first = await agent.prompt('search', { limits: { turns: 5 } }).result
    await clock.advance(500)
    const second = await agent.prompt('and').result
    const session = await sessionsOf(harness)
    assert.equal([session.id, session.definition, session.path, session.forkedFrom], ['a1', 'tester', [], undefined])
    assert.equal([session.updatedAt - session.createdAt, session.isStopped], [1_500, true])
    assert.equal(statusesOf(session), [
      'completed',
      [
        ['completed', ['completed', 'completed']],
        ['completed', ['completed']],
      ],
    ])
    const [run, next] = session.runs
    assert.equal(
      [run!.id, run!.cause, run!.limits, run!.model?.settings, next!.id],
      ['a1/r0', 'prompt', { turns: 5 }, { temperature: 0 }, 'a1/r1'],
    )
    assert.is(run!.startedAt - session.createdAt, 1_000)
    assert.is(run!.endedAt, run!.startedAt)
    const [asking, answering] = run!.turns
    assert.equal(asking!.input, [{ nodeId: 1, role: 'user', source: 'prompt' }])
    assert.equal([asking!.index, asking!.reply, answering!.index, answering!.reply], [0, 2, 1, 5])
    assert.equal(asking!.toolCalls, [
      { callId: 'a0', name: 'look', key: 'a1/t0/tool/a0', status: 'ended', isError: false, nodeId: 3 },
      { callId: 'a1', name: 'look', key: 'a1/t0/tool/a1', status: 'ended', isError: false, nodeId: 4 },
    ])
    assert.equal([answering!.input, answering!.toolCalls, answering!.attempts], [[], [], 1])
    assert.equal([run!.usage, next!.usage], [first.usage, second.usage])
    assert.equal(session.usage.output, first.usage.output + second.usage.output)
    assert.is(run!.costUsd, run!.usage.input + run!.usage.output)
    assert.is(session.costUsd, run!.costUsd + next!.costUsd)
    assert.equal(
      [asking!.usage.output + answering!.usage.output, asking!.costUsd + answering!.costUsd],
      [run!.usage.output, run!.costUsd],
    )
  })

  it('counts the attempts of a turn, and what failed ones cost', async (context) => {
    const failed = { error: { kind: 'network' as const, message: 'gone' } }
    const harness = await start(context, {
      retry: { attempts: 3, baseMs: 100 },
      replies: [failed, failed, 'there', failed, failed, failed],
    })
    const { agent, clock, until, ofType } = harness
    const retry = async (resets: number): Promise<void> => {
      await until(() => ofType('reply.reset').length >= resets)
      await clock.advance(1_000)
    }
    const run = agent.prompt('go')
    for (const resets of [1, 2]) await retry(resets)
    await run.result
    const lost = agent.prompt('again')
    for (const resets of [3, 4]) await retry(resets)
    await lost.result
    const session = await sessionsOf(harness)
    assert.equal(statusesOf(session), [
      'failed',
      [
        ['completed', ['completed']],
        ['failed', ['failed']],
      ],
    ])
    assert.equal(
      session.runs.map(({ turns }) => turns[0]!.attempts),
      [3, 3],
    )
    assert.equal([session.runs[1]!.error?.code, session.runs[1]!.turns[0]!.reply], ['MODEL_NETWORK', undefined])
  })

  it('tells a refusal, an abort and an empty life apart', async (context) => {
    const harness = await start(context, {
      replies: [
        { parts: [delta('no'), done([{ type: 'text', text: 'no' }], { stopReason: 'refusal' })] },
        stalled(['half'], never),
      ],
    })
    const { agent, until } = harness
    assert.equal(statusesOf(sessionOf(await harness.records())), ['completed', []])
    await agent.prompt('first').result
    const run = agent.prompt('second')
    await until((event) => event.type === 'reply.delta' && event.text === 'half')
    assert.equal(statusesOf(sessionOf(await harness.records())), [
      'running',
      [
        ['rejected', ['rejected']],
        ['running', ['running']],
      ],
    ])
    agent.abort()
    await run.result
    const session = await sessionsOf(harness)
    assert.equal(statusesOf(session), [
      'aborted',
      [
        ['rejected', ['rejected']],
        ['aborted', ['aborted']],
      ],
    ])
    assert.is(session.runs[1]!.turns[0]!.reply, 4)
  })

  it('is paused by a limit, and the loop that goes on names the one it goes on from', async (context) => {
    const harness = await start(context, { tools: [look()], replies: [calls('a', 'look'), 'found'] })
    const { agent } = harness
    await agent.prompt('search', { limits: { turns: 1 } }).result
    const paused = sessionOf(await harness.records())
    assert.equal(statusesOf(paused), ['paused', [['paused', ['completed']]]])
    assert.equal(paused.runs[0]!.reason, { type: 'limit', limit: 'turns', allowed: 1, used: 1 })
    await agent.resume({ limits: {} }).result
    const session = await sessionsOf(harness)
    assert.equal(statusesOf(session), [
      'completed',
      [
        ['paused', ['completed']],
        ['completed', ['completed']],
      ],
    ])
    assert.equal([session.runs[1]!.cause, session.runs[1]!.resumedFrom], ['resume', 'a1/r0'])
    assert.equal(session.runs[1]!.turns[0]!.input, [])
  })

  it('is paused while all there is left waits for approval', async (context) => {
    const opened = gate()
    const ask = tool('ask', () => 'yes', { needsApproval: true })
    const wait = tool('wait', () => opened.promise.then(() => 'waited'))
    const harness = await start(context, { tools: [ask, wait], replies: [calls('a', 'ask', 'wait', 'ask'), 'done'] })
    const { agent, untilState, until } = harness
    const run = agent.prompt('go')
    await until(({ type }) => type === 'tool.start')
    assert.is(sessionOf(await harness.records()).status, 'running')
    opened.resolve()
    await untilState('paused')
    const paused = sessionOf(await harness.records())
    assert.equal(statusesOf(paused), ['paused', [['paused', ['running']]]])
    assert.equal(paused.runs[0]!.reason, { type: 'approvals', callIds: ['a0', 'a2'] })
    assert.equal(callsOf(paused.runs[0]!.turns[0]!), [
      ['a0', 'held', undefined],
      ['a1', 'ended', undefined],
      ['a2', 'held', undefined],
    ])
    agent.decide('a0', 'approve')
    agent.decide('a2', 'deny')
    await run.result
    const session = await sessionsOf(harness)
    assert.equal([session.status, session.runs[0]!.reason], ['completed', undefined])
    assert.equal(callsOf(session.runs[0]!.turns[0]!), [
      ['a0', 'ended', undefined],
      ['a1', 'ended', undefined],
      ['a2', 'ended', 'denied'],
    ])
  })

  it('is paused while a call waits for the one before it, which waits for approval', async (context) => {
    const ask = tool('ask', () => 'yes', { needsApproval: true })
    const harness = await start(context, {
      tools: [ask, look()],
      toolExecution: 'sequential',
      replies: [calls('a', 'ask', 'look'), 'done'],
    })
    const { agent, untilState } = harness
    const run = agent.prompt('go')
    await untilState('paused')
    const projection = new SessionProjection()
    for (const record of await harness.records()) projection.apply(record)
    assert.is(projection.session.status, 'paused')
    assert.is(projection.state, agent.state)
    assert.equal(projection.pause, agent.pause)
    agent.decide('a0', 'approve')
    await run.result
  })

  it('shows reverts and prunes in their turns, and those made at rest beside them', async (context) => {
    const harness = await start(context, {
      braking: { revert: true, prune: true },
      tools: [look()],
      replies: [
        calls('a', 'look'),
        calls('b', 'look'),
        calls(
          'c',
          ['revert_to_state', { category: 'failure', step: 'n3', summary: 'no' }],
          ['prun', { steps: ['n9'] }],
        ),
        'done',
      ],
    })
    const { agent, until, ofType } = harness
    await agent.prompt('go').result
    const [{ economics } = {}] = ofType('revert.applied')
    agent.revert('n99', { category: 'failure', summary: 'no' })
    await until((event) => event.type === 'revert.applied' && event.requested === 'n99')
    await harness.untilState('idle')
    const projection = new SessionProjection()
    for (const record of await harness.records()) projection.apply(record)
    assert.is(projection.state, 'idle')
    const session = await sessionsOf(harness)
    const changes = session.runs[0]!.turns.map((turn) => turn.changes)
    assert.equal(changes.slice(0, 2), [[], []])
    assert.ok(economics !== undefined)
    assert.equal(changes[2]![0], { type: 'revert', applied: true, category: 'failure', target: 3, economics })
    assert.equal([changes[2]![1]?.type, changes[2]![1]?.applied], ['prune', false])
    assert.equal(
      session.changes.map((change) => [change.type, change.applied, 'reason' in change && change.reason?.slice(0, 27)]),
      [['revert', false, 'revert target n99 not found']],
    )
    assert.equal(statusesOf(session)[0], 'completed')
  })

  it('shows a compaction with its span', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let n = 0; n < 4; n++) log.step([{}])
    log.compact({ first: 1, recent: 1 })
    const [change] = sessionOf(log.records).changes
    assert.ok(change?.type === 'compaction')
    assert.equal([change.applied, change.nodeId, change.from, change.to], [true, 10, 2, 7])
  })

  it('counts an attempt that follows a compaction, and begins anew with the next turn', () => {
    const at = { v: 3, time: 1, runId: 'a/r0' } as const
    const error = { code: 'MODEL_OVERFLOW', message: 'too long' }
    const message = { role: 'assistant', content: [], stopReason: 'stop', usage: usageOf(1, 1), model: 'm' } as const
    const reply = { type: 'reply.end', message, costUsd: 0, estimatedTokens: 0 } as const
    const records: LogRecord[] = [
      created('a'),
      { ...at, seq: 2, turnIndex: 0, type: 'run.start', requestId: 'q', limits: {}, cause: 'prompt' },
      { ...at, seq: 3, turnIndex: 0, type: 'turn.start' },
      { ...at, seq: 4, turnIndex: 0, type: 'reply.reset', attempt: 1, error, usage: usageOf(5, 0) },
      { ...at, seq: 5, turnIndex: 0, ...reply, nodeId: 1, parentId: null },
      { ...at, seq: 6, turnIndex: 0, type: 'turn.end', usage: usageOf(6, 1), costUsd: 3 },
      { ...at, seq: 7, turnIndex: 1, type: 'turn.start' },
      { ...at, seq: 8, turnIndex: 1, ...reply, nodeId: 2, parentId: 1 },
    ]
    const [run] = sessionOf(records).runs
    assert.equal(
      run!.turns.map(({ attempts, usage, costUsd }) => [attempts, usage.input, costUsd]),
      [
        [2, 6, 3],
        [1, 1, 0],
      ],
    )
    assert.is(sessionOf(records.slice(0, 4)).runs[0]!.turns[0]!.attempts, 1)
  })

  it('counts in a call that outlived a pause where it was made', () => {
    const at = { v: 3, time: 1, turnIndex: 0 } as const
    const reply = {
      role: 'assistant',
      content: [{ type: 'toolCall', callId: 'c', name: 'ask', input: {} }],
      stopReason: 'toolUse',
      usage: usageOf(3, 2),
      model: 'm',
    } as const
    const result = { role: 'toolResult', callId: 'c', toolName: 'ask', content: [], isError: false } as const
    const end = { type: 'run.end', turns: 1, usage: usageOf(0, 0), costUsd: 0 } as const
    const run = { type: 'run.start', requestId: 'q', limits: {} } as const
    const records: LogRecord[] = [
      created('a'),
      { ...at, seq: 2, runId: 'a/r0', ...run, cause: 'prompt' },
      { ...at, seq: 3, runId: 'a/r0', type: 'turn.start' },
      {
        ...at,
        seq: 4,
        runId: 'a/r0',
        type: 'reply.end',
        nodeId: 1,
        parentId: null,
        message: reply,
        costUsd: 7,
        estimatedTokens: 0,
      },
      { ...at, seq: 5, runId: 'a/r0', type: 'approval.requested', callId: 'c', key: 'k', name: 'ask', input: {} },
      { ...at, seq: 6, runId: 'a/r0', type: 'turn.end', usage: usageOf(0, 0), costUsd: 0 },
      { ...at, seq: 7, runId: 'a/r0', ...end, stopReason: 'paused', reason: { type: 'interrupted' } },
    ]
    const paused = sessionOf(records)
    assert.equal(statusesOf(paused), ['paused', [['paused', ['paused']]]])
    // The process had died, so the machine knew less than the log.
    assert.equal([paused.usage, paused.costUsd, paused.runs[0]!.turns[0]!.costUsd], [usageOf(3, 2), 7, 7])
    const resumed = sessionOf([
      ...records,
      { ...at, seq: 8, runId: 'a/r1', ...run, cause: 'resume', resumedFrom: 'a/r0' },
      { ...at, seq: 9, runId: 'a/r1', turnIndex: 1, type: 'turn.start' },
      {
        ...at,
        seq: 10,
        runId: 'a/r1',
        turnIndex: 1,
        type: 'approval.decided',
        callId: 'c',
        key: 'k',
        decision: 'approve',
      },
      {
        ...at,
        seq: 11,
        runId: 'a/r1',
        turnIndex: 1,
        type: 'tool.start',
        callId: 'c',
        key: 'k',
        name: 'ask',
        input: {},
      },
      {
        ...at,
        seq: 12,
        runId: 'a/r1',
        turnIndex: 1,
        type: 'tool.end',
        nodeId: 2,
        parentId: 1,
        callId: 'c',
        key: 'k',
        name: 'ask',
        message: result,
      },
    ])
    assert.equal(statusesOf(resumed), [
      'running',
      [
        ['paused', ['completed']],
        ['running', ['running']],
      ],
    ])
    assert.equal(callsOf(resumed.runs[0]!.turns[0]!), [['c', 'ended', undefined]])
  })

  it('has nothing but a summary’s worth in its summary', async (context) => {
    const harness = await start(context, { tools: [look()], replies: [calls('a', 'look'), 'found', 'more'] })
    await harness.agent.prompt('one').result
    await harness.agent.prompt('two').result
    const session = await sessionsOf(harness)
    const { runs: _, changes: __, ...rest } = session
    assert.equal(summaryOf(session), { ...rest, runs: 2, turns: 3, forks: [], children: [] })
  })
})

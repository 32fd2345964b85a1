import { RemoteRuns } from '../../src/client/remoteRuns.ts'
import { noUsage } from '../../../../src/protocol/messages.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const at = { agentId: 'a', path: [], time: 1, v: 3, turnIndex: 0 } as const

/** The records of a run: with `turns` 0 its message was never written. */
function records(runId: string, stopReason: 'stop' | 'aborted', turns: number): AgentEvent[] {
  const start = { ...at, seq: 1, runId, type: 'run.start', cause: 'prompt', requestId: 's/c1', limits: {} } as const
  const turn = { ...at, seq: 2, runId, type: 'turn.start' } as const
  const end = { ...at, seq: 3, runId, type: 'run.end', stopReason, turns, usage: noUsage, costUsd: 0 } as const
  return turns === 0 ? [start, end] : [start, turn, end]
}

describe('a run that was asked for', (it) => {
  it('goes on when its server died before its message was written: the command is sent again', async () => {
    const ended: string[] = []
    const runs = new RemoteRuns((requestId) => ended.push(requestId))
    const run = runs.expect('s/c1')
    for (const event of records('a/r0', 'aborted', 0)) runs.take(event)
    assert.equal(ended, [])
    for (const event of records('a/r1', 'stop', 1)) runs.take(event)
    assert.equal(ended, ['s/c1'])
    assert.is((await run.result).stopReason, 'stop')
    assert.ok(runs.isEmpty)
  })

  it('is over when it was aborted in its first turn', async () => {
    const runs = new RemoteRuns(() => {})
    const run = runs.expect('s/c1')
    for (const event of records('a/r0', 'aborted', 1)) runs.take(event)
    assert.is((await run.result).stopReason, 'aborted')
  })
})

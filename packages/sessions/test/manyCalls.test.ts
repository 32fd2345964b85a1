import { foldLog } from '../../../src/log/fold.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { noUsage } from '../../../src/protocol/text/messageText.ts'
import { machineFold, pauseOf } from '../src/machineState.ts'
import { sessionOf } from '../src/sessionProjection.ts'
import { countedSteps } from '../../../test/support/countedSteps.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { created } from './sessionLogs.ts'

/** The log of a reply with so many calls: every second is approved first, and half have their results. */
function logOf(count: number): LogRecord[] {
  const records: LogRecord[] = [created('a')]
  const add = (body: object): void => {
    const seq = records.length + 1
    records.push({ v: 3, seq, time: seq, runId: 'a/r0', turnIndex: 0, ...body } as LogRecord)
  }
  const ids = Array.from({ length: count }, (_, index) => `c${index}`)
  const call = (callId: string) => ({ callId, key: `a/t0/tool/${callId}`, name: 'work', input: {} })
  const content = ids.map((callId) => ({ type: 'toolCall', callId, name: 'work', input: {} }))
  add({ type: 'run.start', cause: 'prompt', requestId: 'q', limits: {} })
  add({ type: 'turn.start' })
  const message = { role: 'assistant', content, stopReason: 'toolUse', usage: noUsage, model: 'm' }
  add({ type: 'reply.end', nodeId: 1, parentId: null, message, costUsd: 0, estimatedTokens: 1 })
  const asked = ids.filter((_, index) => index % 2 === 0)
  for (const id of asked) add({ type: 'approval.requested', ...call(id) })
  for (const id of asked) add({ type: 'approval.decided', ...call(id), decision: 'approve' })
  for (const id of ids) add({ type: 'tool.start', ...call(id) })
  for (const [index, id] of ids.slice(count / 2).entries())
    add({
      type: 'tool.end',
      ...call(id),
      nodeId: index + 2,
      parentId: index + 1,
      message: { role: 'toolResult', callId: id, name: 'work', content: [], isError: false },
    })
  return records
}

const folds: Readonly<Record<string, (log: readonly LogRecord[]) => unknown>> = {
  'the context of a log': (log) => rebuildContext(log),
  'the state of a machine': (log) => pauseOf(foldLog(machineFold, log)),
  'a session': (log) => sessionOf(log),
}

describe('a reply with thousands of calls', (it) => {
  for (const [name, fold] of Object.entries(folds))
    it(`takes a fixed number of steps for each of them: ${name}`, () => {
      const [some, more] = [500, 2_000].map((count) => {
        const log = logOf(count)
        return countedSteps(() => fold(log))
      })
      assert.ok(some! >= 500, 'the calls are passed over')
      assert.ok(more! < some! * 4.2, `${some} steps for 500 calls, ${more} for 2000`)
    })

  it('leaves those without a result open, as they are, in their order', () => {
    const { calls } = rebuildContext(logOf(6))
    assert.equal(
      calls.map(({ callId, status, decision }) => [callId, status, decision?.type]),
      [
        ['c0', 'running', 'approve'],
        ['c1', 'running', undefined],
        ['c2', 'running', 'approve'],
        ['c3', 'settled', undefined],
        ['c4', 'settled', 'approve'],
        ['c5', 'settled', undefined],
      ],
    )
    const held = logOf(6).slice(0, 7)
    assert.equal(pauseOf(foldLog(machineFold, held)), { type: 'approvals', callIds: ['c0', 'c2', 'c4'] })
  })
})

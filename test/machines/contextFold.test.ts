import * as fc from 'fast-check'
import { ContextFold, foldContext, rebuildContext, type KeptContext } from '../../src/machines/rebuildContext.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { startAgent, calls, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('the context of a log', (it) => {
  it('is the same when it was kept at any record, while a call was held too', async (context) => {
    const risky = tool('risky', () => 'done', { needsApproval: true })
    const { agent, clock, records, untilState } = await startAgent(context, {
      replies: [calls('c', 'risky'), 'one', calls('d', 'risky', 'risky'), 'two'],
      tools: [risky],
      limits: { ms: 10_000 },
    })
    for (const ids of [['c0'], ['d0', 'd1']]) {
      const run = agent.prompt('go')
      await untilState('paused')
      await clock.advance(4_000)
      for (const id of ids) agent.decide(id, 'approve')
      await run.result
    }
    const log = await records()
    const check = (at: number, all: readonly LogRecord[]): void => {
      const kept = JSON.parse(JSON.stringify(foldContext(all.slice(0, at)).keep())) as KeptContext
      const again = new ContextFold(kept)
      for (const record of all.slice(at)) again.apply(record)
      assert.equal(JSON.parse(JSON.stringify(again.context)), JSON.parse(JSON.stringify(rebuildContext(all))))
    }
    fc.assert(
      fc.property(fc.nat(log.length), fc.nat(log.length), (at, end) => {
        check(Math.min(at, end), log.slice(0, end))
      }),
      { seed: 7, numRuns: 300 },
    )
  })
})

import { someRuns } from '../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { sessionOf, SessionProjection } from '../src/sessionProjection.ts'
import { calls, startAgent, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

describe('the fold of a session', (it) => {
  const journey = async (context: CaseContext): Promise<LogRecord[]> => {
    const harness = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen'), tool('ask', () => 'yes', { needsApproval: true })],
      retry: { attempts: 1 },
      replies: [
        calls('a', 'look', 'look'),
        calls('b', ['revert_to_state', { category: 'failure', step: 'n1', summary: 'no' }]),
        'done',
        { error: { kind: 'auth', message: 'no' } },
        calls('c', 'ask'),
      ],
    })
    const { agent, untilState } = harness
    await agent.prompt('one').result
    await agent.prompt('two').result
    const run = agent.prompt('three')
    await untilState('paused')
    agent.abort()
    await run.result
    await agent.stop()
    return await harness.records()
  }

  it('has a session for every beginning of a log, the empty one included', async (context) => {
    const records = await journey(context)
    assert.equal(sessionOf([]).status, 'completed')
    let runs = 0
    for (let cut = 0; cut <= records.length; cut++) {
      const session = sessionOf(records.slice(0, cut))
      assert.ok(session.runs.length >= runs)
      runs = session.runs.length
      if (cut > 0) assert.is(session.id, 'a1')
    }
    assert.is(runs, 3)
  })

  it('throws at no order of records, and keeps none of what was said but a title', async (context) => {
    const records = await journey(context)
    fc.assert(
      fc.property(fc.shuffledSubarray(records, { minLength: 0 }), (shuffled) => {
        const { title, ...session } = sessionOf(shuffled)
        assert.ok(title === undefined || records.some((record) => record.type === 'message.added'))
        assert.ok(session.runs.length <= 3)
        assert.not.match(JSON.stringify(session), /seen|"one"|"done"/)
      }),
      { seed: 5, numRuns: someRuns(200) },
    )
  })

  it('gives out copies: what is done to one harms nobody', async (context) => {
    const records = await journey(context)
    const projection = new SessionProjection()
    for (const record of records) projection.apply(record)
    const { session } = projection
    ;(session.runs[0]!.turns as unknown[]).length = 0
    ;(session.runs as unknown[]).length = 0
    assert.equal(
      projection.session.runs.map(({ turns }) => turns.length),
      [3, 1, 1],
    )
  })
})

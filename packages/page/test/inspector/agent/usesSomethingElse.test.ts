import { eventText } from '../../../src/inspector/model/events/eventWords.ts'
import { TimeTravel } from '../../../src/inspector/model/agent/logFold.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { PreparedTurn, TurnUse } from '../../../../../src/protocol/bridge/turns.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const at = { v: 3, time: 1, runId: 'a/r0', turnIndex: 0 } as const
const use: TurnUse = { model: { id: 'test:smart', name: 'smart' }, tools: ['look', 'find'], instructions: 'be kind' }
const prepared = (turn: PreparedTurn): AgentEvent => ({
  ...at,
  agentId: 'a',
  path: [],
  seq: 1,
  type: 'turn.prepared',
  ...turn,
})

describe('what an agent was told to use', (it) => {
  it('is shown as of any moment', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'a' }])
    const first = log.records.length
    const changed = (used: TurnUse | null) => ({ ...at, type: 'use.changed', requestId: 'u', use: used }) as const
    const records = [...log.records, changed(use), changed(null)].map((record, index): LogRecord => ({
      ...record,
      seq: index + 1,
    }))
    const travel = new TimeTravel(records)
    assert.equal(
      [0, 1, 2, 1].map((more) => travel.to(first + more).use),
      [null, use, null, use],
    )
  })

  it('is said in a line, and so is what a turn was asked with', () => {
    const origin = { agentId: 'a', path: [], seq: 1 }
    assert.is(
      eventText({ ...at, ...origin, type: 'use.changed', requestId: 'u', use }),
      'model smart · tools look, find · instructions be kind',
    )
    assert.is(
      eventText({ ...at, ...origin, type: 'use.changed', requestId: 'u', use: null }),
      'what the definition says',
    )
    assert.is(
      eventText(prepared({ by: ['use', 'beforeTurn'], sameInstructions: true, tools: [], settings: { seed: 1 } })),
      'no tools · the same instructions · {"seed":1} (by use, beforeTurn)',
    )
    const limit = { type: 'limit', limit: 'turns', allowed: 2, used: 2 } as const
    assert.is(
      eventText(prepared({ by: ['limit'], tools: [], limit })),
      'the last turn: the limit of turns is reached · no tools (by limit)',
    )
  })
})

import type { LogRecord } from '../../src/protocol/records.ts'
import { RunDeps } from '../../src/runtime/children/runDeps.ts'
import { assert, describe } from '../support/suite.ts'

const begins = (requestId: string, cause: 'prompt' | 'resume' = 'prompt') =>
  ({ type: 'run.start', requestId, cause }) as LogRecord
const ends = (stopReason: 'stop' | 'paused') => ({ type: 'run.end', stopReason }) as LogRecord

describe('what an agent is given', (it) => {
  it('is that of the request during its run, and its own between runs', () => {
    const deps = new RunDeps('own')
    deps.give('q1', 'first')
    assert.is(deps.current, 'own')
    deps.note(begins('q1'))
    assert.is(deps.current, 'first')
    deps.note(ends('stop'))
    assert.is(deps.current, 'own')
    deps.takeBack('q1')
    deps.note(begins('q1'))
    assert.is(deps.current, 'own')
  })

  it('stays over a pause, unless what goes on is given other', () => {
    const deps = new RunDeps()
    deps.give('q1', 'first')
    deps.note(begins('q1'))
    deps.note(ends('paused'))
    deps.note(begins('q2', 'resume'))
    assert.is(deps.current, 'first')
    deps.note(ends('paused'))
    deps.give('q3', 'third')
    deps.note(begins('q3', 'resume'))
    assert.is(deps.current, 'third')
  })

  it('is replaced from the next run on', () => {
    const deps = new RunDeps('old')
    deps.note(begins('q1'))
    deps.replace('new')
    assert.is(deps.current, 'old')
    deps.note(ends('stop'))
    assert.is(deps.current, 'new')
  })
})

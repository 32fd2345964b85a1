import { recordVersion } from '../../src/protocol/records.ts'
import { parseRecord, upgradeRecord, versionOf, type UpgradeSteps } from '../../src/protocol/upgradeRecord.ts'
import { readRecord } from '../../packages/stores/src/readRecord.ts'
import { recordsBetween } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** Formats of a made-up past: 1 said `at` in seconds, 2 says `time` in milliseconds, 3 has a `kind`. */
const steps: UpgradeSteps = {
  1: ({ at, ...rest }) => ({ ...rest, time: (at as number) * 1_000 }),
  2: (record) => ({ ...record, kind: 'plain' }),
}

describe('the upgrade of a record', (it) => {
  it('goes from version to version, and says which one it has reached', () => {
    assert.equal(upgradeRecord({ v: 1, at: 2 }, steps, 3), { v: 3, time: 2_000, kind: 'plain' })
    assert.equal(upgradeRecord({ v: 2, time: 5 }, steps, 3), { v: 3, time: 5, kind: 'plain' })
  })

  it('does not change what it is given', () => {
    const record = Object.freeze({ v: 1, at: 2 })
    upgradeRecord(record, steps, 3)
    assert.equal(record, { v: 1, at: 2 })
  })

  it('gives back what is of this version or a newer one, of a version without a step, or no record', () => {
    const untouched = [
      { v: 3 },
      { v: 4 },
      { v: 0, at: 1 },
      { v: 1.5 },
      { v: -1 },
      { v: NaN },
      { v: '1' },
      {},
      [],
      null,
      7,
    ]
    for (const value of untouched) assert.is(upgradeRecord(value, steps, 3), value)
    // A gap in the table stops it where it is.
    assert.equal(upgradeRecord({ v: 1, at: 1 }, { 1: steps[1]! }, 3), { v: 2, time: 1_000 })
    assert.equal(upgradeRecord({ v: 1 }, Object.create({ 1: () => ({}) }) as UpgradeSteps, 2), { v: 1 })
  })

  it('leaves records of today as they are', () => {
    for (const record of recordsBetween(1, 3)) assert.is(upgradeRecord(record), record)
    assert.is(versionOf(recordsBetween(1, 1)[0]), recordVersion)
  })

  it('calls a run what it was once called a loop, where a sub-agent was begun too', () => {
    const place = { file: 'a.jsonl', line: 1 }
    const start = { v: 1, seq: 2, time: 0, loopId: 'a/r0', turnIndex: 3, type: 'turn.start' }
    assert.equal(readRecord(JSON.stringify(start), place), {
      v: recordVersion,
      seq: 2,
      time: 0,
      runId: 'a/r0',
      turnIndex: 3,
      type: 'turn.start',
    })
    const parent = { agentId: 'a', turnIndex: 3, callId: 'c0' }
    const created = { v: 1, seq: 1, time: 0, type: 'agent.created', agentId: 'a.1', path: ['a'], definition: 'd' }
    const child = { ...created, model: 'm', machine: 'x', parent: { ...parent, loopId: 'a/r0' } }
    const read = readRecord(JSON.stringify(child), place)
    assert.equal('parent' in read && read.parent, { ...parent, runId: 'a/r0' })
    for (const wrong of [null, 7, 'a', [], {}])
      assert.ok(readRecord(JSON.stringify({ ...child, parent: wrong }), place) instanceof Error)
    assert.ok(readRecord(JSON.stringify({ ...start, loopId: undefined }), place) instanceof Error)
  })

  it('gives an approval of before they had keys its callId, by which it was decided', () => {
    const base = { v: 1, seq: 2, time: 0, turnIndex: 0, callId: 'c0' }
    for (const rest of [
      { type: 'approval.requested', name: 'risky', input: {} },
      { type: 'approval.decided', decision: 'deny' },
    ]) {
      const place = { file: 'a.jsonl', line: 1 }
      const old = { ...base, loopId: 'a/r0', ...rest }
      const today = { ...base, v: recordVersion, runId: 'a/r0', ...rest }
      assert.equal(readRecord(JSON.stringify(old), place), { ...today, key: 'c0' })
      assert.equal(readRecord(JSON.stringify({ ...old, key: 'k' }), place), { ...today, key: 'k' })
      const damaged = readRecord(JSON.stringify({ ...old, callId: 7 }), place)
      assert.match(damaged instanceof Error ? damaged.message : '', /callId: /)
    }
  })

  it('leaves what version 2 wrote as it was: only kinds and fields were added', () => {
    const record = { v: 2, seq: 2, time: 0, runId: 'a/r0', turnIndex: 3, type: 'turn.start' }
    assert.equal(parseRecord(record), { ...record, v: recordVersion })
    assert.throws(() => parseRecord({ ...record, type: 'turn.begun' }), withCode('LOG_CORRUPT'))
  })

  it('does not hide that a checksum was damaged', () => {
    const record = { v: 1, seq: 2, time: 0, loopId: 'a/r0', turnIndex: 3, type: 'turn.start' }
    const damaged = JSON.stringify({ ...record, crX: '1a2b3c4d' })
    for (const line of [damaged, damaged.replace('"v":1,', '"v":2,').replace('loopId', 'runId')]) {
      const read = readRecord(line, { file: 'a.jsonl', line: 1 })
      assert.match(read instanceof Error ? read.message : '', /its checksum is damaged/)
    }
    assert.not(readRecord(JSON.stringify(record), { file: 'a.jsonl', line: 1 }) instanceof Error)
  })

  it('is there for stores and applications: parseRecord', () => {
    const record = { v: 1, seq: 2, time: 0, loopId: 'a/r0', turnIndex: 3, type: 'turn.start' }
    const { loopId: runId, ...rest } = record
    assert.equal(parseRecord(record), { ...rest, v: recordVersion, runId })
    assert.throws(() => parseRecord({ ...record, v: recordVersion + 1 }), withCode('LOG_VERSION'))
    for (const nothing of [undefined, null, 7, [], {}, { ...record, loopId: 7 }, { ...record, parent: null }])
      assert.throws(() => parseRecord(nothing), withCode('LOG_CORRUPT'))
  })

  it('lets the schema judge a record of a version before the first', () => {
    const [record] = recordsBetween(1, 1)
    const read = readRecord(JSON.stringify({ ...record, v: 0 }), { file: 'a.jsonl', line: 1 })
    assert.ok(read instanceof Error)
    assert.match(read.message, /Line 1 of a\.jsonl is not a record: v: /)
  })
})

import { askedPolicy, type AskedPolicy } from '../../../src/inspector/model/calls/askedPolicy.ts'
import { LogFold, TimeTravel } from '../../../src/inspector/model/agent/logFold.ts'
import type { PolicyEnd, PruneOutcome, RevertOutcome } from '../../../../../src/protocol/braking.ts'
import { noUsage } from '../../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const at = { v: 3, seq: 1, time: 0, runId: 'a/r0', turnIndex: 0 } as const

const asked = (id: string, policy: string, by: 'person' | 'model' = 'person'): LogRecord => ({
  ...at,
  type: 'policy.requested',
  request: { id, by, policy },
})
const start = (policy: string, requestId?: string): LogRecord => ({
  ...at,
  type: 'policy.start',
  policy,
  why: 'asked for',
  turn: 1,
  tokens: 100,
  ...(requestId === undefined ? {} : { requestId }),
})
const end = (came: Partial<PolicyEnd> & Pick<PolicyEnd, 'outcome'>): LogRecord => ({
  ...at,
  type: 'policy.end',
  policy: 'tidy',
  requestId: 'q1',
  costUsd: 0,
  ...came,
})
const pruned = (came: Partial<PruneOutcome>): LogRecord => ({
  ...at,
  type: 'prune.applied',
  id: 'k1',
  applied: true,
  steps: [2, 4],
  tokens: 1_200.4,
  ...came,
})
const reverted = (came: Partial<RevertOutcome>): LogRecord =>
  ({
    ...at,
    type: 'revert.applied',
    id: 'k1/revert',
    applied: true,
    category: 'tangent',
    requested: 'n3',
    target: 3,
    ...came,
  }) as LogRecord
const told = ({ stage, lines }: AskedPolicy): string[] => [
  stage,
  ...lines.map(({ tone, text }) => (tone === 'bad' ? `! ${text}` : text)),
]
const came = (...records: LogRecord[]): string[] => told(askedPolicy([asked('q1', 'tidy'), ...records], 'tidy'))

describe('what is told to a person who asked for a policy', (it) => {
  it('is how far it is: asked for, deciding, carried out, done', () => {
    const records = [
      asked('q0', 'tidy', 'model'),
      end({ outcome: 'nothing', requestId: 'q0' }),
      asked('q9', 'other'),
      asked('q1', 'tidy'),
      start('other', 'q9'),
      end({ outcome: 'failed', policy: 'other', requestId: 'q9' }),
      start('tidy', 'q1'),
      end({ outcome: 'planned', prune: 'k1', reason: 'it is old' }),
      pruned({ id: 'k0' }),
      pruned({}),
    ]
    const stages = records.map((_, index) => askedPolicy(records.slice(0, index + 1), 'tidy').stage)
    assert.equal(stages, [...Array.from({ length: 6 }, () => 'asked'), 'consulting', 'draining', 'draining', 'done'])
  })

  it('is what it came to, and why', () => {
    assert.equal(came(end({ outcome: 'nothing', reason: 'all is small' })), [
      'done',
      'The policy changes nothing: all is small',
    ])
    assert.equal(came(end({ outcome: 'nothing' })), ['done', 'The policy changes nothing'])
    assert.equal(came(end({ outcome: 'failed', reason: 'no idea' })), ['done', '! The policy failed: no idea'])
    const usage = { ...noUsage, input: 10, output: 2 }
    assert.equal(came(end({ outcome: 'planned', note: 'Hurry.', usage, costUsd: 0.002 })), [
      'done',
      'The policy planned a change',
      'The model is told: Hurry.',
      'Cost: 12 tokens, $0.0020',
    ])
  })

  it('is what the drains made of its plan, refusals too', () => {
    const plan = end({ outcome: 'planned', prune: 'k1', revert: 'k1/revert' })
    assert.equal(came(plan, pruned({})), [
      'draining',
      'The policy planned a change',
      'Hid 2 steps (n2–n4), 1,200 tokens',
    ])
    assert.equal(came(plan, pruned({ steps: [2], by: 'runtime' }), reverted({})), [
      'done',
      'The policy planned a change',
      'Folded 1 step (n2), 1,200 tokens',
      'Went back to n3 (tangent)',
    ])
    assert.equal(
      came(
        plan,
        pruned({ masked: true, reason: 'n9 is pinned' }),
        reverted({ applied: false, reason: 'revert refused: n3 is the head' }),
      ),
      [
        'done',
        'The policy planned a change',
        'Masked the results of 2 steps (n2–n4), 1,200 tokens',
        '! n9 is pinned',
        '! Could not go back to n3: revert refused: n3 is the head',
      ],
    )
    assert.equal(
      came(end({ outcome: 'planned', prune: 'k1' }), pruned({ applied: false, steps: [], reason: 'n2 is pinned' })),
      ['done', 'The policy planned a change', '! Nothing was hidden: n2 is pinned'],
    )
  })
})

describe('the log of an agent that is being asked', (it) => {
  it('tells which policy decides, at any moment, and not once it is over or its process died', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'a' }])
    const first = log.records.length
    const next = [start('tidy', 'q1'), end({ outcome: 'nothing' }), start('tidy')]
    const records = [...log.records, ...next].map((record, index) => ({ ...record, seq: index + 1 }))
    const travel = new TimeTravel(records)
    const seen = [0, 1, 2, 3].map((more) => travel.to(first + more).consulting)
    assert.equal(seen, [
      null,
      { policy: 'tidy', why: 'asked for', requestId: 'q1' },
      null,
      { policy: 'tidy', why: 'asked for' },
    ])
    const fold = new LogFold()
    for (const record of records) fold.apply(record)
    const run = { type: 'run.start', cause: 'prompt', messages: [] } as unknown as LogRecord
    fold.apply({ ...at, ...run, seq: records.length + 1 })
    assert.is(fold.consulting, null)
  })
})

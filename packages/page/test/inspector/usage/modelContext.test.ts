import { chosenOf, contextUse, hasPaid, type BrakeUse } from '../../../src/inspector/model/usage/contextBrakes.ts'
import { contextNotes } from '../../../src/inspector/model/usage/contextNotes.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

/** Records in the order given, one second apart, each in a turn of its own. */
const log = (...parts: readonly Readonly<Record<string, unknown>>[]): LogRecord[] =>
  parts.map(
    (part, index) =>
      ({ v: 3, seq: index + 1, time: index * 1_000, runId: 'r', turnIndex: index, ...part }) as unknown as LogRecord,
  )
const usage = (input: number, cacheRead = 0) => ({ input, output: 1, cacheRead, cacheWrite: 0 })
const reply = (input: number, cacheRead = 0, estimatedTokens = 0) => ({
  type: 'reply.end',
  message: { role: 'assistant', content: [], usage: usage(input, cacheRead), model: 'm', stopReason: 'stop' },
  costUsd: 0,
  estimatedTokens,
})
const frees = (freed: number, paysAfter: number | null = 2) => ({ freed, rewritten: 10, paysAfter })

describe('the size of requests', (it) => {
  it('is there as of the moment that is shown, with what each brake has brought by then', () => {
    const records = log(
      reply(1_000),
      { type: 'prune.applied', id: 'p', applied: true, steps: [2], tokens: 300, economics: frees(300) },
      reply(700),
      { type: 'compaction.end', applied: true, tokensBefore: 700, tokensAfter: 200, costUsd: 0, economics: frees(500) },
      reply(200),
    )
    const at = (end: number) => {
      const { savings, brakes } = contextUse(records, end)
      return [savings.sizes.map(({ without }) => without), brakes.map(({ saving }) => saving?.tokens)]
    }
    assert.equal(at(5), [
      [1_000, 1_000, 1_000],
      [600, 500],
    ])
    assert.equal(at(3), [[1_000, 1_000], [300]])
  })

  it('has nothing of a brake that was refused', () => {
    const records = log(
      { type: 'prune.applied', id: 'p', applied: false, steps: [], tokens: 0, reason: 'pinned', economics: frees(500) },
      reply(300),
    )
    const { savings, brakes } = contextUse(records, 2)
    assert.is(savings.sizes[0]?.without, 300)
    assert.equal(
      brakes.map(({ kind, isApplied, reason, saving }) => [kind, isApplied, reason, saving]),
      [['prune', false, 'pinned', undefined]],
    )
  })

  it('is shown at evenly chosen turns of a long life, the first and the last among them', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => at)
    const chosen = chosenOf(many, 300)
    assert.equal([chosen.length, chosen[0], chosen.at(-1)], [300, 0, 999])
    assert.equal(chosenOf([1, 2], 300), [1, 2])
  })
})

describe('what was taken away', (it) => {
  it('says who asked for it', () => {
    const done = { applied: true, steps: [4], tokens: 1 }
    const records = log(
      { type: 'revert.requested', request: { id: 'a', by: 'model', category: 'failure', step: 'n2' } },
      { type: 'revert.applied', id: 'a', applied: true, category: 'failure', requested: 'n2', target: 2, costUsd: 0.5 },
      { type: 'prune.requested', request: { id: 'b', by: 'person' } },
      { type: 'prune.applied', id: 'b', ...done },
      { type: 'prune.requested', request: { id: 'c', by: 'runtime', policy: 'tidy' } },
      { type: 'prune.applied', id: 'c', ...done, by: 'runtime', policy: 'tidy', economics: frees(7) },
      { type: 'prune.applied', id: 'd', ...done, masked: true },
      { type: 'compaction.start', cause: 'overflow', tokens: 9 },
      { type: 'compaction.end', applied: false, reason: 'too little', tokensBefore: 9, tokensAfter: 9, costUsd: 0 },
    )
    const { brakes } = contextUse(records, records.length)
    assert.equal(
      brakes.map(({ kind, by, what, node, costUsd }) => [kind, by, what, node, costUsd]),
      [
        ['revert', 'the model', 'failure, back to n2', 2, 0.5],
        ['prune', 'a person', '1 step', 4, 0],
        ['fold', 'policy tidy', '1 step', 4, 0],
        ['mask', 'the runtime', '1 step', 4, 0],
        ['compaction', 'the provider', '9 tokens to 9 tokens', undefined, 0],
      ],
    )
  })

  it('has paid after as many requests as were reckoned', () => {
    const use = (requests: number, economics?: BrakeUse['economics']): BrakeUse => ({
      seq: 1,
      turnIndex: 0,
      kind: 'prune',
      by: '',
      what: '',
      isApplied: true,
      saving: { seq: 1, turnIndex: 0, type: 'prune.applied', requests, tokens: 0, usd: null, spoiltUsd: null },
      costUsd: 0,
      ...(economics === undefined ? {} : { economics }),
    })
    assert.equal([use(1, frees(1)), use(2, frees(1)), use(9, frees(1, null)), use(9)].map(hasPaid), [
      false,
      true,
      null,
      null,
    ])
  })

  it('is summed up for each policy, with what asking took', () => {
    const records = log(
      { type: 'policy.start', policy: 'tidy', why: '' },
      { type: 'policy.end', policy: 'tidy', outcome: 'planned', costUsd: 0.25, usage: usage(10) },
      { type: 'prune.applied', id: 'c', applied: true, steps: [4], tokens: 1, policy: 'tidy', economics: frees(70) },
      { type: 'policy.start', policy: 'tidy', why: '' },
      { type: 'policy.end', policy: 'tidy', outcome: 'failed', costUsd: 0 },
      { type: 'policy.start', policy: 'calm', why: '' },
      { type: 'policy.end', policy: 'calm', outcome: 'nothing', costUsd: 0 },
    )
    assert.equal(contextUse(records, records.length).policies, [
      { policy: 'tidy', fired: 2, planned: 1, nothing: 0, failed: 1, tokens: 11, costUsd: 0.25, freed: 70 },
      { policy: 'calm', fired: 1, planned: 0, nothing: 1, failed: 0, tokens: 0, costUsd: 0, freed: 0 },
    ])
  })
})

describe('notes of what an agent had in view', (it) => {
  const note = (part: Readonly<Record<string, unknown>>) => {
    const [group, [first] = []] = [...contextNotes(log(part), 1)][0] ?? []
    return group === undefined ? undefined : [group, first?.text, first?.lines, first?.tone, first?.node]
  }
  const error = { code: 'MODEL_RATE_LIMIT', message: 'Slow down.' }
  const kept = { what: 'b.ts', why: 'a later change' }
  const memory = { id: 'm', scope: 'user', kind: 'fact', text: 'Likes tea.', tainted: true }
  const artifact = { id: 'f'.repeat(64), agentId: 'a', bytes: 1_234, mimeType: 'text/plain' }
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, readonly unknown[] | undefined])[] = [
    [
      {
        type: 'stall.detected',
        evidence: 'npm test failed 4 times',
        rung: 'revert',
        count: 2,
        first: 5,
        note: 'Stop.',
      },
      ['Circles', 'npm test failed 4 times: it went back, 2 in a row', ['Stop.'], 'warn', 5],
    ],
    [
      { type: 'prune.applied', applied: true, steps: [3, 4], memo: 'one\ntwo' },
      ['Memos and names', 'Memo of 2 steps', ['one', 'two'], undefined, 3],
    ],
    [
      { type: 'prune.applied', applied: true, steps: [3], index: 'n3: a.ts' },
      ['Memos and names', 'Names that stand in hidden steps alone', ['n3: a.ts'], undefined, undefined],
    ],
    [{ type: 'prune.applied', applied: false, steps: [], memo: 'one' }, undefined],
    [
      { type: 'pin.applied', applied: true, pinned: true, requested: 'n7', step: 7 },
      ['Pins', 'Pinned n7', undefined, undefined, 7],
    ],
    [
      { type: 'pin.applied', applied: false, pinned: false, requested: 'n7', reason: 'it is not there' },
      ['Pins', 'Unpinned n7: not done, it is not there', undefined, 'warn', undefined],
    ],
    [
      { type: 'graft.applied', applied: true, requested: ['n3'], copies: [{ nodeId: 9, from: 3 }] },
      ['Grafts', '1 message brought back', ['n3 came back as n9'], undefined, 9],
    ],
    [
      { type: 'graft.applied', applied: false, requested: ['n3', 'n4'], copies: [], reason: 'they are on the trunk' },
      ['Grafts', 'n3, n4 did not come back: they are on the trunk', undefined, 'warn', undefined],
    ],
    [
      { type: 'undo.end', undone: ['a.ts'], kept: [kept] },
      [
        'Undone effects',
        '1 effect undone, 1 left as they are',
        ['undone: a.ts', 'left: b.ts (a later change)'],
        'warn',
        undefined,
      ],
    ],
    [
      { type: 'tool.start', name: 'recall', input: { step: 'n3' } },
      ['Looked up', 'recall n3', undefined, undefined, undefined],
    ],
    [
      { type: 'tool.start', name: 'read_skill', input: { name: 'pdf' } },
      ['Skills', 'read_skill pdf', undefined, undefined, undefined],
    ],
    [{ type: 'tool.start', name: 'constructor', input: {} }, undefined],
    [
      { type: 'tool.end', nodeId: 9, message: { artifacts: [artifact] } },
      ['Kept results', 'artifact_ffffffffffff, 1.2 KB, text/plain', undefined, undefined, 9],
    ],
    [
      { type: 'memory.extracted', kept: [memory], costUsd: 0.02 },
      [
        'Memory',
        '1 memory drawn from what left its sight, $0.02',
        ['fact (user), unconfirmed: Likes tea.'],
        undefined,
        undefined,
      ],
    ],
    [
      { type: 'memory.extracted', kept: [], costUsd: 0, problem: 'It is full.' },
      ['Memory', '0 memories drawn from what left its sight: It is full.', [], 'bad', undefined],
    ],
    [
      { type: 'reply.reset', attempt: 2, error, next: 'p:other' },
      [
        'Models that failed or had to wait',
        'Attempt 2 failed with MODEL_RATE_LIMIT; p:other was asked instead',
        ['Slow down.'],
        'bad',
        undefined,
      ],
    ],
  ]
  for (const [part, told] of cases)
    it(`tell of ${JSON.stringify(part).slice(0, 90)}`, () => assert.equal(note(part), told))

  it('say how long a person took, and never less than nothing when the clock was put back', () => {
    const records = log(
      { type: 'approval.requested', key: 'a/1', name: 'deploy' },
      { type: 'approval.decided', key: 'a/1', decision: 'deny', reason: 'Not today.' },
      { type: 'question.asked', key: 'a/2', time: 9_000 },
      { type: 'question.answered', key: 'a/2', decision: 'answer', time: 1_000 },
    )
    assert.equal(
      contextNotes(records, 4)
        .get('Questions and approvals')
        ?.map(({ text }) => text),
      ['Denied a/1, after 1.0 s: Not today.', 'Answered a/2, after 0 ms'],
    )
  })

  it('have what was seen live of waiting, up to the moment that is shown', () => {
    const live = [
      { type: 'model.waited', seq: 1, turnIndex: 0, model: 'p:m', ms: 1_500 },
      { type: 'model.waited', seq: 5, turnIndex: 2, model: 'p:m', ms: 1 },
    ] as unknown as AgentEvent[]
    const notes = contextNotes([], 2, live).get('Models that failed or had to wait')
    assert.equal(
      notes?.map(({ text }) => text),
      ['p:m had to wait 1.5 s within the limits of the runtime'],
    )
  })
})

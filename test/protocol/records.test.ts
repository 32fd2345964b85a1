import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { eventOf } from '../../src/protocol/events.ts'
import { logRecordSchema, type LogRecord } from '../../src/protocol/records.ts'
import { limitsSchema } from '../../src/protocol/runs/runLimits.ts'
import { assert, describe } from '../support/suite.ts'
import { hostSamples, partSamples } from './partSamples.ts'

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success
const text = (words: string) => ({ type: 'text', text: words }) as const
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const
const inTurn = { v: 3, seq: 3, time: 1_000, runId: 'a/r0', turnIndex: 0 }
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
const overlay = { nodeId: 9, from: 2, to: 3, summary: 's', kept: [], recentTo: 5, maxToolOutputChars: 100 }
const error = { code: 'X', message: 'x' }
const tag = {
  kind: 'lesson',
  text: 't',
  turnIndex: 0,
  abandoned: [4],
  evidence: { calls: [{ name: 't', attempts: 1, lastError: 'e' }], changed: ['x.ts'] },
}
const result = { role: 'toolResult', callId: 'c', toolName: 't', content: [text('r')], isError: false }

/** One of each kind, with every optional part. */
const records: readonly Record<string, unknown>[] = [
  {
    v: 3,
    seq: 1,
    time: 0,
    type: 'agent.created',
    agentId: 'a',
    path: ['root'],
    definition: 'd',
    model: 'm',
    machine: 'agent@1',
  },
  {
    ...inTurn,
    type: 'run.start',
    cause: 'resume',
    requestId: 'q',
    resumedFrom: 'a/r0',
    limits: { turns: 1, tokens: 1, costUsd: 0.1, ms: 1, onLimit: 'answer' },
  },
  {
    ...inTurn,
    type: 'run.end',
    stopReason: 'paused',
    turns: 1,
    usage,
    costUsd: 0,
    reason: { type: 'store', error },
    error,
  },
  { ...inTurn, type: 'turn.start' },
  { ...inTurn, type: 'turn.end', usage, costUsd: 0 },
  {
    ...inTurn,
    type: 'message.added',
    nodeId: 1,
    parentId: null,
    message: { role: 'user', content: [text('hi'), image], source: 'prompt' },
  },
  {
    ...inTurn,
    type: 'reply.end',
    nodeId: 2,
    parentId: 1,
    costUsd: 0,
    estimatedTokens: 5,
    message: { role: 'assistant', content: [text('hi')], stopReason: 'aborted', usage, model: 'm' },
  },
  { ...inTurn, type: 'reply.reset', attempt: 1, error, usage, retryAt: 5 },
  { ...inTurn, type: 'tool.start', callId: 'c', key: 'k', name: 't', input: { any: ['thing'] } },
  {
    ...inTurn,
    type: 'tool.end',
    nodeId: 3,
    parentId: 2,
    callId: 'c',
    key: 'k',
    name: 't',
    message: { ...result, synthetic: 'denied' },
  },
  { ...inTurn, type: 'approval.requested', callId: 'c', key: 'k', name: 't', input: 'raw' },
  { ...inTurn, type: 'approval.decided', callId: 'c', key: 'k', decision: 'deny', reason: 'no' },
  {
    ...inTurn,
    type: 'queue.changed',
    queue: 'prompts',
    added: { id: 'q', content: [text('x')], limits: { turns: 2 } },
    first: true,
    length: 1,
  },
  { ...inTurn, type: 'queue.changed', queue: 'steering', removed: ['q'], why: 'dropped', length: 0 },
  { ...inTurn, type: 'compaction.start', cause: 'overflow', tokens: 5, requestId: 'k' },
  {
    ...inTurn,
    type: 'compaction.end',
    applied: true,
    requestId: 'k',
    reason: 'r',
    overlay,
    tokensBefore: 5,
    tokensAfter: 1,
    usage,
    costUsd: 0,
  },
  {
    ...inTurn,
    type: 'revert.requested',
    request: { id: 'r', by: 'model', category: 'failure', step: 'n2', summary: 's' },
  },
  {
    ...inTurn,
    type: 'revert.applied',
    id: 'r',
    applied: true,
    category: 'failure',
    requested: 'n2',
    target: 3,
    tag,
    rebased: [{ nodeId: 9, from: 4 }],
  },
  { ...inTurn, type: 'compaction.requested', request: { id: 'k', by: 'person', focus: 'names' } },
  { ...inTurn, type: 'graft.requested', request: { id: 'g', by: 'person', steps: ['n2'] } },
  {
    ...inTurn,
    type: 'graft.applied',
    id: 'g',
    applied: true,
    requested: ['n2', 'n4'],
    copies: [{ nodeId: 9, from: 2 }],
    reason: 'r',
    economics: { freed: -5, rewritten: 5, paysAfter: null },
  },
  { ...inTurn, type: 'pin.requested', request: { id: 'i', by: 'person', step: 'n2', pinned: true } },
  { ...inTurn, type: 'undo.step', id: 'r', call: 3, undone: false, why: 'w' },
  { ...inTurn, type: 'undo.end', id: 'r', undone: ['a.txt'], kept: [{ what: 'b', why: 'w' }] },
  { ...inTurn, type: 'pin.applied', id: 'i', applied: true, requested: 'n2', pinned: true, step: 2, reason: 'r' },
  { ...inTurn, type: 'prune.requested', request: { id: 'p', by: 'person', steps: ['n2'], tokens: 5, memo: 'm' } },
  { ...inTurn, type: 'prune.applied', id: 'p', applied: true, steps: [2], tokens: 5, memo: 'm', reason: 'r' },
  { ...inTurn, type: 'policy.requested', request: { id: 'b', by: 'person', policy: 'tidy' } },
  { ...inTurn, type: 'policy.start', policy: 'tidy', why: 'w', turn: 3, tokens: 9, requestId: 'b' },
  {
    ...inTurn,
    type: 'policy.end',
    policy: 'tidy',
    outcome: 'planned',
    prune: 'p',
    revert: 'v',
    note: 'n',
    reason: 'r',
    requestId: 'b',
    usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    costUsd: 0,
  },
  {
    ...inTurn,
    type: 'stall.detected',
    rule: 'repeat',
    first: 2,
    target: 1,
    steps: [2, 4, 6],
    evidence: 'e',
    count: 1,
    rung: 'note',
    note: 'n',
  },
  {
    ...inTurn,
    type: 'question.asked',
    callId: 'c',
    name: 't',
    input: { a: 1 },
    key: 'a/t0/tool/c/q1',
    question: 'q',
    schema: { type: 'string' },
    problem: 'p',
  },
  { ...inTurn, type: 'question.answered', callId: 'c', key: 'k', decision: 'answer', value: null, requestId: 'r' },
  { ...inTurn, type: 'question.answered', callId: 'c', key: 'k', decision: 'deny', reason: 'r', again: true },
  { ...inTurn, type: 'call.requested', callId: 'c', key: 'k', name: 't', input: { a: 1 } },
  { ...inTurn, type: 'run.abandoned' },
  {
    ...inTurn,
    type: 'turn.captured',
    attempt: 1,
    model: 'm',
    system: 's',
    tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
    settings: { maxTokens: 5 },
    kept: 0,
    messages: [{ role: 'user', content: [text('x')] }],
    provenance: [{ type: 'identityBlock', name: 'n', order: 1, merged: [{ type: 'steering' }] }],
  },
  { ...inTurn, type: 'child.spawned', childId: 'a.1', definition: 'd' },
  {
    ...inTurn,
    type: 'child.ended',
    childId: 'a.1',
    error: { code: 'CHILD_CRASHED', message: 'm' },
    spent: { usage, costUsd: 0, turns: 1 },
  },
  {
    ...inTurn,
    type: 'turn.prepared',
    by: ['instructions', 'use', 'beforeTurn', 'limit'],
    instructions: 'i',
    sameInstructions: true,
    tools: ['t'],
    model: { id: 'm', name: 'fast' },
    settings: { temperature: 0, toolChoice: { tool: 't' } },
    limit: { type: 'limit', limit: 'turns', allowed: 1, used: 1 },
  },
  {
    ...inTurn,
    type: 'tools.changed',
    added: [
      {
        name: 's_t',
        description: 'd',
        inputSchema: { type: 'object' },
        spec: { strict: true },
        effects: 'reversible',
        approval: 'maybe',
        polls: true,
        source: 's',
        ownName: 't',
      },
    ],
    removed: ['u'],
    instructions: [{ source: 's', text: 'i' }],
    trouble: [{ source: 's', message: 'm' }],
  },
  ...partSamples(inTurn),
  ...hostSamples({ v: 3, seq: 3, time: 1_000 }),
  { ...inTurn, type: 'use.changed', requestId: 'u', use: { instructions: 'i', tools: [], model: { id: 'm' } } },
  { v: 3, seq: 4, time: 1, type: 'agent.stopped' },
  {
    ...inTurn,
    type: 'approval.requested',
    callId: 'c',
    key: 'k',
    name: 't',
    input: {},
    beforeTool: true,
    edited: true,
    parentCall: 'p',
  },
  { ...inTurn, type: 'guard.decided', at: 'input', decision: 'passed', to: 3 },
  {
    ...inTurn,
    type: 'guard.decided',
    at: 'input',
    decision: 'refused',
    guard: 'g',
    reason: 'no',
    to: 3,
    withheld: [3],
  },
  { ...inTurn, type: 'guard.decided', at: 'output', decision: 'failed', guard: 'g', error },
]

/** Parts that may be missing, wherever they may. */
const optional: { readonly [type: string]: readonly string[] } = {
  'run.start': ['resumedFrom'],
  'run.end': ['reason', 'error'],
  'reply.reset': ['usage', 'retryAt'],
  'turn.prepared': ['instructions', 'sameInstructions', 'tools', 'model', 'settings', 'limit'],
  'tools.changed': ['instructions', 'trouble'],
  'memory.extracted': ['problem', 'usage'],
  'schedule.set': ['limits', 'nodeId', 'requestId'],
  'schedule.fired': ['skipped', 'requestId'],
  'timer.fired': ['early'],
  'schedule.removed': ['reason', 'requestId'],
  'state.patched': ['callId', 'n', 'hook', 'childId', 'initial'],
  'turn.captured': ['system', 'tools', 'settings'],
  'permission.granted': ['requestId'],
  'permission.revoked': ['requestId'],
  'mode.changed': ['requestId'],
  'child.ended': ['error'],
  'host.created': ['version', 'input'],
  'host.event': ['requestId', 'from', 'timer', 'to'],
  'host.step': ['set', 'cleared'],
  'host.effect.end': ['output', 'error'],
  'host.snapshot': ['version'],
  'host.done': ['output', 'error'],
  'call.reported': ['ended', 'data', 'changed', 'receipt', 'hook'],
  'inner.start': ['irreversible', 'reversible'],
  'inner.end': ['asked', 'value', 'apart', 'error', 'changed', 'receipt', 'data'],
  'approval.requested': ['beforeTool', 'edited', 'parentCall'],
  'guard.decided': ['guard', 'reason', 'error', 'to', 'withheld'],
  'approval.decided': ['reason'],
  'question.asked': ['problem'],
  'question.answered': ['value', 'reason', 'again', 'requestId'],
  'queue.changed': ['added', 'first', 'removed', 'why'],
  'compaction.start': ['requestId'],
  'compaction.end': ['requestId', 'reason', 'overlay', 'usage'],
  'revert.applied': ['reason', 'target', 'tag', 'rebased'],
  'undo.step': ['why'],
  'prune.applied': ['memo', 'reason'],
  'graft.applied': ['reason', 'economics'],
  'pin.applied': ['step', 'reason'],
  'stall.detected': ['note'],
  'policy.start': ['requestId'],
  'policy.end': ['prune', 'revert', 'note', 'reason', 'requestId', 'usage'],
}

describe('records', (it) => {
  it('of every kind survive the way through JSON and the schema unchanged', () => {
    for (const record of records) assert.equal(logRecordSchema().parse(JSON.parse(JSON.stringify(record))), record)
    const kinds = new Set(records.map(({ type }) => type))
    assert.is(kinds.size, logRecordSchema().options.length)
  })

  for (const [title, change] of [
    ['a newer version', { v: 4 }],
    ['no version', { v: undefined }],
    ['seq 0', { seq: 0 }],
    ['half a seq', { seq: 1.5 }],
    ['a time that is no number', { time: 'now' }],
    ['a time that is NaN', { time: NaN }],
    ['an unknown type', { type: 'message.removed' }],
    ['no type', { type: undefined }],
  ] as const) {
    it(`of every kind are refused with ${title}`, () => {
      for (const record of records)
        assert.not.ok(accepts(logRecordSchema(), { ...record, ...change }), String(record['type']))
    })
  }

  it('are refused when a required part is missing', () => {
    for (const record of records) {
      for (const key of Object.keys(record)) {
        const type = String(record['type'])
        const { [key]: _, ...rest } = record
        assert.is(accepts(logRecordSchema(), rest), optional[type]?.includes(key) === true, `${type} without ${key}`)
      }
    }
  })

  for (const [title, record] of [
    ['a node 0', { ...records[5], nodeId: 0 }],
    ['a message of another role', { ...records[5], message: result }],
    ['a negative turn', { ...records[3], turnIndex: -1 }],
    ['an unknown cause', { ...records[1], cause: 'boredom' }],
    ['a limit of nothing', { ...records[1], limits: { turns: 0 } }],
    ['an unknown limit', { ...records[1], limits: { words: 5 } }],
    ['an unknown queue', { ...records[12], queue: 'wishes' }],
    ['an unknown reason to pause', { ...records[2], reason: { type: 'tired' } }],
    ['an unknown synthetic reason', { ...records[9], message: { ...result, synthetic: 'lost' } }],
    ['a fraction of tokens', { ...records[14], tokens: 1.5 }],
    [
      'text that is null',
      { ...records[5], message: { role: 'user', content: [{ type: 'text', text: null }], source: 'prompt' } },
    ],
  ] as const) {
    it(`are refused with ${title}`, () => assert.not.ok(accepts(logRecordSchema(), record)))
  }

  it('are refused when they are nonsense', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => assert.not.ok(accepts(logRecordSchema(), value))),
      { seed: 1, numRuns: someRuns(300) },
    )
  })

  it('become events that say whose they are', () => {
    const origin = { agentId: 'a', path: ['root'] }
    for (const record of records) {
      assert.equal(eventOf(record as unknown as LogRecord, origin), { ...record, ...origin })
    }
  })
})

describe('limits', (it) => {
  it('are positive, known, and may all be missing', () => {
    assert.ok(accepts(limitsSchema(), {}))
    assert.ok(accepts(limitsSchema(), { turns: 1, tokens: 1, costUsd: 0.001, ms: 0.5 }))
    for (const limits of [
      { turns: 1.5 },
      { turns: -1 },
      { tokens: 0 },
      { costUsd: 0 },
      { ms: 0 },
      { ms: Infinity },
      { turns: undefined },
      { turn: 1 },
      null,
    ]) {
      assert.not.ok(accepts(limitsSchema(), limits), JSON.stringify(limits))
    }
  })
})

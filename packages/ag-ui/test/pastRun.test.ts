import type { Message } from '@ag-ui/core'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { clientResults, decisionFor } from '../src/decisions.ts'
import { endingNow, endingOf, lastEvent, tokenUsage, waitEnding } from '../src/endings.ts'
import { pauseInterruptId, requestIdOf } from '../src/ids.ts'
import { PastRun } from '../src/pastRun.ts'
import { agree } from '../src/threadMessages.ts'

const usage = (input: number) => ({ input, output: 1, cacheRead: 0, cacheWrite: 0 })
const record = (type: string, more: object = {}): LogRecord =>
  ({ type, seq: 1, time: 0, runId: 'r1', ...more }) as never
const start = (runId: string, requestId = requestIdOf('one'), more: object = {}) =>
  record('run.start', { runId, requestId, ...more })
const end = (runId: string, stopReason: string, more: object = {}) =>
  record('run.end', { runId, stopReason, usage: usage(5), ...more })
const replied = (runId = 'r1') => record('reply.end', { runId, message: { usage: usage(3) } })

function past(...records: readonly LogRecord[]): PastRun {
  const run = new PastRun('one')
  for (const one of records) run.take(one, 't')
  return run
}

describe('a run of AG-UI in the log', (it) => {
  it('is over as its last run ended, and no other', () => {
    assert.is(past(start('r1')).end, undefined)
    assert.is(past(start('r1'), end('r1', 'stop')).end?.stopReason, 'stop')
    assert.is(past(start('r1'), end('r0', 'stop')).end, undefined)
    assert.is(past(start('r0', 'another'), end('r0', 'stop')).agentRunId, undefined)
  })

  it('goes on in the run that takes up what was interrupted, and in no other', () => {
    const interrupted = end('r1', 'paused', { reason: { type: 'interrupted' } })
    const limit = end('r1', 'paused', { reason: { type: 'limit' } })
    const next = start('r2', 'another', { resumedFrom: 'r1' })
    assert.equal(past(start('r1'), interrupted, next).agentRunIds, ['r1', 'r2'])
    assert.is(past(start('r1'), interrupted, next).end, undefined)
    assert.equal(past(start('r1'), limit, next).agentRunIds, ['r1'])
    assert.equal(past(start('r1'), interrupted, start('r2', 'another', { resumedFrom: 'r0' })).agentRunIds, ['r1'])
    assert.equal(past(start('r1'), interrupted, start('r2', 'another')).agentRunIds, ['r1'])
  })

  it('is aborted where its pause was given up, not that of another run', () => {
    const paused = [start('r1'), end('r1', 'paused', { reason: { type: 'limit' } })]
    const abandoned = (runId: string) => record('run.abandoned', { runId })
    assert.is(past(...paused, abandoned('r1')).end?.stopReason, 'aborted')
    assert.is(past(...paused, abandoned('r0')).end?.stopReason, 'paused')
    assert.is(past(start('r1'), end('r1', 'stop'), abandoned('r1')).end?.stopReason, 'stop')
    assert.is(past(start('r1'), abandoned('r1')).end, undefined)
  })

  it('has used what its runs did, and its replies since', () => {
    const used = (...records: readonly LogRecord[]) => past(...records).usage.input
    assert.is(used(start('r1'), replied(), replied()), 6)
    assert.is(used(start('r1'), replied(), end('r1', 'stop')), 5)
    assert.is(used(start('r1'), replied('r0'), end('r0', 'stop')), 0)
    const interrupted = end('r1', 'paused', { reason: { type: 'interrupted' } })
    assert.is(used(start('r1'), interrupted, start('r2', 'x', { resumedFrom: 'r1' }), replied('r2')), 8)
  })

  it('waits, was dropped, or began, as the queue says of its own request', () => {
    const changed = (more: object) => record('queue.changed', more)
    const id = requestIdOf('one')
    const queue = (...records: readonly LogRecord[]) => past(...records).queue
    const waits = changed({ queue: 'prompts', added: { id } })
    assert.is(queue(waits), 'waiting')
    assert.is(queue(changed({ queue: 'prompts', added: { id: 'another' } })), 'none')
    assert.is(queue(changed({ queue: 'steering', added: { id } })), 'none')
    assert.is(queue(waits, changed({ queue: 'prompts', removed: [id], why: 'dropped' })), 'dropped')
    assert.is(queue(waits, changed({ queue: 'prompts', removed: [id], why: 'taken' })), 'none')
    assert.is(queue(waits, changed({ queue: 'prompts', removed: ['another'], why: 'dropped' })), 'waiting')
  })

  it('has the sub-agents that were called and did not answer, of its last run', () => {
    const called = (callId: string, childId?: string) =>
      record('tool.start', { callId, name: 'w', ...(childId && { childId }) })
    const done = (callId: string) => record('tool.end', { callId })
    const ids = (...records: readonly LogRecord[]) => [...past(...records).children.keys()]
    const both = [start('r1'), called('c', 'k1'), called('d', 'k2'), called('e')]
    assert.equal(ids(...both), ['k1', 'k2'])
    assert.equal(ids(...both, done('c')), ['k2'])
    assert.equal(ids(...both, done('e')), ['k1', 'k2'])
    assert.equal(ids(...both, end('r1', 'stop')), [])
    assert.equal(ids(...both, end('r0', 'stop')), [])
  })
})

const agentOf = (pending: readonly object[], pause: object | null = null) =>
  ({ id: 't', pending: () => pending, pause }) as unknown as DrivenAgent
const waits = (kind: string, key: string, more: object = {}) => ({
  kind,
  key,
  callId: key,
  agentId: 't',
  name: 'pay',
  input: {},
  question: 'Sure?',
  schema: {},
  ...more,
})

describe('the end of a run of AG-UI', (it) => {
  it('is what its agent says', () => {
    const error = { code: 'MODEL_AUTH', message: 'no' }
    const of = (ended: object): unknown => {
      const ending = endingOf(agentOf([]), ended as never, 'said')
      return ending.type === 'interrupt' ? ending.interrupts.map(({ id, reason }) => [id, reason]) : ending
    }
    assert.equal(of({ stopReason: 'stop' }), { type: 'success', result: { stopReason: 'stop', text: 'said' } })
    assert.equal(of({ stopReason: 'error', error }), { type: 'error', ...error })
    assert.equal(of({ stopReason: 'error' }), { type: 'error', code: 'INTERNAL', message: 'The run failed.' })
    assert.equal(of({ stopReason: 'aborted', error }), { type: 'cancelled' })
    assert.equal(of({ stopReason: 'paused', error }), { type: 'error', ...error })
    assert.equal(of({ stopReason: 'paused' }), [[pauseInterruptId('t'), 'escapement:interrupted']])
    assert.equal(of({ stopReason: 'paused', error, reason: { type: 'store', error } }), [
      [pauseInterruptId('t'), 'escapement:store'],
    ])
  })

  it('asks people of what waits, but for calls of tools that the client has', () => {
    const of = (pending: readonly object[], ...tools: readonly string[]): unknown => {
      const ending = waitEnding(agentOf(pending), new Set(tools))
      return ending.type === 'interrupt' ? ending.interrupts.map(({ id }) => id) : ending.type
    }
    assert.equal(of([waits('call', 'k')], 'pay'), 'success')
    assert.equal(of([waits('call', 'k')], 'other'), ['k'])
    assert.equal(of([waits('approval', 'k')], 'pay'), ['k'])
    assert.equal(of([waits('call', 'k'), waits('question', 'q')], 'pay'), ['q'])
    assert.equal(of([]), 'success')
  })

  it('is told later without what was answered since', () => {
    const interrupts = ['k', pauseInterruptId('t')].map((id) => ({ id, reason: 'x', message: '' }))
    const of = (agent: DrivenAgent): unknown => {
      const ending = endingNow(agent, { type: 'interrupt', interrupts })
      return ending.type === 'interrupt' ? ending.interrupts.map(({ id }) => id) : ending.type
    }
    assert.equal(of(agentOf([waits('approval', 'k')], { type: 'limit' })), ['k', pauseInterruptId('t')])
    assert.equal(of(agentOf([waits('approval', 'k')])), ['k'])
    assert.equal(of(agentOf([waits('approval', 'k')], { type: 'approvals' })), ['k'])
    assert.equal(of(agentOf([], { type: 'limit' })), [pauseInterruptId('t')])
    assert.equal(of(agentOf([])), 'success')
    assert.equal(endingNow(agentOf([]), { type: 'cancelled' }), { type: 'cancelled' })
  })

  it('is an event that older clients take too, with what was used', () => {
    const ids = { threadId: 't', runId: 'one' }
    const of = (ending: Parameters<typeof lastEvent>[0], isOld = false) => {
      const { type, outcome, result } = lastEvent(ending, ids, usage(1), isOld) as unknown as {
        [field: string]: unknown
      }
      return [type, outcome, result]
    }
    const result = { stopReason: 'stop', text: 'x' }
    assert.equal(of({ type: 'success', result }), ['RUN_FINISHED', { type: 'success' }, result])
    assert.equal(of({ type: 'success' }), ['RUN_FINISHED', { type: 'success' }, undefined])
    assert.equal(of({ type: 'cancelled' }), ['RUN_FINISHED', { type: 'cancelled' }, undefined])
    assert.equal(of({ type: 'cancelled' }, true), ['RUN_FINISHED', undefined, undefined])
    assert.equal(of({ type: 'success' }, true), ['RUN_FINISHED', { type: 'success' }, undefined])
    assert.equal(of({ type: 'error', code: 'X', message: 'y' }), ['RUN_ERROR', undefined, undefined])
    const cached = { input: 1, output: 2, cacheRead: 4, cacheWrite: 8 }
    assert.equal(tokenUsage(cached), {
      inputTokens: 13,
      outputTokens: 2,
      totalTokens: 15,
      cachedInputTokens: 4,
      cacheWriteInputTokens: 8,
    })
    assert.is(tokenUsage({ ...cached, reasoning: 1 }).reasoningTokens, 1)
  })
})

describe('an answer to an interrupt', (it) => {
  const decided = (kind: string, status: string, payload?: unknown) => {
    const { decision, how } = decisionFor(agentOf([waits(kind, 'k')]), { interruptId: 'k', status, payload } as never)
    return [decision, how]
  }
  for (const [kind, payload, expected] of [
    ['approval', { approved: true }, ['approve', {}]],
    [
      'approval',
      { approved: true, grant: { rule: 'pay', scope: 'session' } },
      ['approve', { grant: { rule: 'pay', scope: 'session' } }],
    ],
    ['approval', { approved: true, reason: 'ok', input: { n: 1 } }, ['approve', { reason: 'ok', input: { n: 1 } }]],
    ['approval', { approved: false }, ['deny', {}]],
    ['approval', { approved: false, reason: 'no', input: { n: 1 } }, ['deny', { reason: 'no' }]],
    ['question', 5, [{ value: 5 }, undefined]],
    ['call', { result: 5 }, [{ result: 5 }, undefined]],
    ['call', { error: 'no' }, [{ error: 'no' }, undefined]],
  ] as const)
    it(`decides what it says of ${kind}: ${JSON.stringify(payload)}`, () =>
      assert.equal(decided(kind, 'resolved', payload), expected))

  it('that is cancelled denies, whatever waits', () => {
    for (const kind of ['approval', 'question', 'call'])
      assert.equal(decided(kind, 'cancelled', { approved: true, result: 1 }), [
        'deny',
        { reason: 'The question was cancelled.' },
      ])
  })

  it('is refused where it is of another form, or nothing waits', () => {
    for (const [kind, payload] of [
      ['approval', {}],
      ['approval', { approved: 'yes' }],
      ['approval', undefined],
      ['call', { error: 5 }],
      ['call', { result: 1, error: 'x' }],
    ] as const)
      assert.throws(() => decided(kind, 'resolved', payload), /resume: the payload/)
    assert.throws(() => decisionFor(agentOf([]), { interruptId: 'k', status: 'resolved' } as never), /does not wait/)
  })

  it('is the first result of each call that waits for the client', () => {
    const agent = agentOf([waits('call', 'k'), waits('approval', 'a')])
    const result = (toolCallId: string, content: unknown, more: object = {}) =>
      ({ id: 'x', role: 'tool', toolCallId, content, ...more }) as unknown as Message
    const of = (...messages: readonly Message[]) =>
      clientResults(agent, messages).map(({ callId, decision }) => [callId, decision])
    assert.equal(of(result('k', 'one'), result('k', 'two'), result('a', 'x'), result('z', 'x')), [
      ['k', { result: 'one' }],
    ])
    assert.equal(of(result('k', 'one', { error: 'no' })), [['k', { error: 'no' }]])
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
      { type: 'document', source: { type: 'data', value: 'AAAA', mimeType: 'application/pdf' } },
      { type: 'video', source: { type: 'url', value: 'https://x' } },
    ]
    assert.equal(of(result('k', parts)), [
      [
        'k',
        {
          result: [
            { type: 'text', text: 'a' },
            { type: 'image', data: 'AAAA', mimeType: 'image/png' },
            { type: 'file', data: 'AAAA', mimeType: 'application/pdf' },
            { type: 'text', text: '[a part of type "video", which agents do not take]' },
          ],
        },
      ],
    ])
    assert.equal(clientResults(agentOf([waits('approval', 'k')]), [result('k', 'x')]), [])
  })
})

describe('the messages of a client', (it) => {
  const call = (args: string, id = 'c') => ({
    id: 'a',
    role: 'assistant',
    content: '',
    toolCalls: [{ id, type: 'function', function: { name: 'look', arguments: args } }],
  })
  const user = { id: 'm', role: 'user', content: 'go' }
  const same = (one: readonly object[], other: readonly object[]) => agree(one as never, other as never)
  it('are those of the thread, but for what is not shared', () => {
    assert.ok(same([], []))
    assert.ok(
      same([user, { id: 's', role: 'system', content: 'x' }, { ...user, id: 'k', subagentRunId: 't.1' }], [user]),
    )
    assert.ok(same([{ ...user, content: 'as it was typed' }], [user]))
    assert.ok(same([call('{"a": 1}')], [call('{"a":1}')]))
    for (const [one, other] of [
      [[user], []],
      [[], [user]],
      [[{ ...user, id: 'n' }], [user]],
      [[{ ...user, role: 'assistant' }], [user]],
      [[{ id: 'a', role: 'assistant', content: 'He' }], [{ id: 'a', role: 'assistant', content: 'Hello' }]],
      [[call('{}')], [call('{"a":1}')]],
      [[call('{}')], [call('{}', 'd')]],
      [[call('{')], [call('{}')]],
      [[{ id: 'a', role: 'assistant', content: '' }], [call('{}')]],
    ] as const)
      assert.not.ok(same(one, other), JSON.stringify([one, other]))
  })
})

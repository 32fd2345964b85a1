import { WorkTimes } from '../../packages/charts/src/workTimes.ts'
import { CallBook } from '../../packages/page/src/inspector/model/calls/callBook.ts'
import { GraphRows } from '../../packages/page/src/inspector/model/conversation/graphRows.ts'
import { SpanFold } from '../../packages/page/src/inspector/model/timeline/spanFold.ts'
import { movesCall, stageAfter, type CallStage } from '../../src/log/callStage.ts'
import { foldLog } from '../../src/log/fold.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { machineFold } from '../../packages/sessions/src/machineState.ts'
import { outlineOf } from '../../src/log/outline.ts'
import { SessionProjection } from '../../packages/sessions/src/sessionProjection.ts'
import { assert, describe } from '../support/suite.ts'

type Part = Readonly<Record<string, unknown>> & { readonly type: LogRecord['type'] }

const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
const call = { callId: 'c', key: 'k', name: 'deploy', input: {} }
const message = { content: [], isError: false, usage, role: 'toolResult', callId: 'c' }
const asks = { message: { ...message, role: 'assistant', content: [{ type: 'toolCall', ...call }] }, nodeId: 2 }

/** A second apart, of one turn. */
const logOf = (...parts: readonly Part[]): LogRecord[] =>
  parts.map((part, at) => {
    const header = { v: 3, seq: at + 1, time: at * 1_000, agentId: 'a', path: [], runId: 'a/r0', turnIndex: 0 }
    return { ...header, ...part } as unknown as LogRecord
  })

const before: readonly Part[] = [
  { type: 'run.start', limits: {}, cause: 'prompt' },
  { type: 'turn.start' },
  { type: 'reply.end', costUsd: 0, estimatedTokens: 1, ...asks },
]

/** Stage of the call after its last record, by each reader of a log. */
function saidOf(records: readonly LogRecord[]) {
  const [projection, book, graph, spans, times] = [
    new SessionProjection(),
    new CallBook(),
    new GraphRows(),
    new SpanFold(),
    new WorkTimes(),
  ]
  for (const record of records) {
    projection.apply(record)
    book.take(record)
    graph.apply(record)
    spans.take(record as AgentEvent)
    times.take(record as AgentEvent)
  }
  const later = records.at(-1)!.time + 1_000
  const row = graph.row(3)
  const [run] = spans.roots
  const bar = run?.inside[0]?.inside.find(({ kind }) => kind === 'call')?.parts.at(-1)
  return {
    machine: foldLog(machineFold, records).calls.get('c'),
    session: projection.session.runs[0]?.turns[0]?.toolCalls[0]?.status,
    page: [book.ofReply(2, 'c')?.status, row?.type === 'call' ? row.status : undefined],
    asked: outlineOf(records).asked?.has('k') ?? false,
    context: rebuildContext(records).calls[0]?.status,
    bar: bar?.to === null ? bar.kind : undefined,
    waits: times.runUntil(later)!.waitedMs > 0,
  }
}

type Said = Partial<ReturnType<typeof saidOf>>

/** How a call goes, with what all say of it at each step. */
const courses: readonly (readonly [title: string, ...(readonly [Part, CallStage, Said])[]])[] = [
  [
    'allowed',
    [{ type: 'approval.requested', ...call }, 'held', { context: 'held', page: ['held', 'held'], waits: true }],
    [{ type: 'approval.decided', ...call, decision: 'approve' }, 'ready', { page: ['pending', 'pending'] }],
    [{ type: 'tool.start', ...call }, 'running', { bar: 'work' }],
    [{ type: 'tool.end', ...call, message, nodeId: 3 }, 'settled', { page: ['ended', 'ended'] }],
  ],
  [
    'denied',
    [{ type: 'approval.requested', ...call }, 'held', { bar: 'waiting' }],
    [{ type: 'approval.decided', ...call, decision: 'deny' }, 'ready', { page: ['denied', 'denied'] }],
  ],
  [
    'asking a person',
    [{ type: 'tool.start', ...call }, 'running', { asked: false }],
    [{ type: 'question.asked', ...call, question: '?' }, 'asked', { context: 'asked', bar: 'waiting', waits: true }],
    [{ type: 'question.answered', ...call, decision: 'accept' }, 'running', { bar: 'work', asked: false }],
  ],
  [
    'answered when its tool was gone',
    [{ type: 'tool.start', ...call }, 'running', {}],
    [{ type: 'question.asked', ...call, question: '?' }, 'asked', { asked: true }],
    [
      { type: 'question.answered', ...call, decision: 'accept', again: true },
      'ready',
      { context: 'ready', page: ['pending', 'pending'] },
    ],
  ],
  [
    'sleeping',
    [{ type: 'tool.start', ...call }, 'running', {}],
    [{ type: 'timer.set', ...call, due: 9_000 }, 'sleeping', { bar: 'waiting', waits: true }],
    [{ type: 'tool.end', ...call, message, nodeId: 3 }, 'settled', { page: ['ended', 'ended'] }],
  ],
  ['carried out by a client', [{ type: 'call.requested', ...call }, 'requested', { bar: 'queued', waits: false }]],
]

const statuses = {
  ready: 'pending',
  held: 'held',
  asked: 'held',
  requested: 'held',
  sleeping: 'held',
  running: 'running',
} as const

describe('the stage of a call', (it) => {
  for (const [title, ...steps] of courses)
    it(`is the same for all who read the log of one that is ${title}`, () => {
      const parts = [...before]
      for (const [part, stage, expected] of steps) {
        parts.push(part)
        const records = logOf(...parts)
        const record = records.at(-1)!
        assert.ok(movesCall(record) && stageAfter(record) === stage, part.type)
        const said = saidOf(records)
        const isOver = stage === 'settled'
        const all: Said = {
          machine: isOver ? undefined : stage,
          session: isOver ? 'ended' : statuses[stage],
          asked: !isOver && statuses[stage] === 'held',
          context: isOver ? undefined : stage,
          ...expected,
        }
        for (const [reader, value] of Object.entries(all))
          assert.equal([part.type, reader, said[reader as keyof Said]], [part.type, reader, value])
      }
    })

  it('is moved by no other record', () => {
    for (const record of logOf(...before)) assert.not(movesCall(record))
  })
})

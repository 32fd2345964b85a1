import { array, assert as check, constantFrom, integer, property, record } from 'fast-check'
import { WorkTimes } from '../../../../charts/src/workTimes.ts'
import type { Span } from '../../../src/inspector/model/timeline/span.ts'
import { SpanFold } from '../../../src/inspector/model/timeline/spanFold.ts'
import { SpanSource } from '../../../src/inspector/model/timeline/spanLogs.ts'
import { rowOf, spanRows, type LogInside } from '../../../src/inspector/model/timeline/spanRows.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { someRuns } from '../../../../../test/support/seeds.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
const text = (words: string): object => ({ content: [{ type: 'text', text: words }] })
const failure = { code: 'MODEL_AUTH', message: 'The key is wrong.' }

type Line = readonly [type: AgentEvent['type'], seconds: number, rest?: object]

/** Events of a log, a record each. */
const logOf = (...lines: readonly Line[]): AgentEvent[] =>
  lines.map(
    ([type, seconds, rest = {}], index) =>
      ({
        v: 3,
        agentId: 'a',
        path: [],
        runId: 'a/r0',
        turnIndex: 0,
        seq: index + 1,
        type,
        time: seconds * 1_000,
        ...rest,
      }) as unknown as AgentEvent,
  )

function foldOf(...lines: readonly Line[]): SpanFold {
  const fold = new SpanFold()
  for (const event of logOf(...lines)) fold.take(event)
  return fold
}

/** Each span in a line: what it is, from when to when in seconds, and its parts. */
const told = (spans: readonly Span[], indent = ''): string[] =>
  spans.flatMap((span) => {
    const s = (ms: number | null): string => (ms === null ? '…' : String(ms / 1_000))
    const parts = span.parts.map(({ kind, from, to }) => ` ${kind} ${s(from)}-${s(to)}`).join('')
    const marks = [span.error === undefined ? '' : ' ✗', span.isCut ? ' cut' : '', span.clockChanged ? ' ⟲' : ''].join(
      '',
    )
    return [`${indent}${span.name} ${s(span.from)}-${s(span.to)}${parts}${marks}`, ...told(span.inside, `${indent}  `)]
  })

const call = { callId: 'c', name: 'deploy', input: { to: 'production' } }
const done = { message: { role: 'toolResult', isError: false, ...text('ok') } }
const bad = { message: { role: 'toolResult', isError: true, ...text('exit code 1') } }

describe('what took time in a log', (it) => {
  it('is a tree of runs, turns, replies and calls, with what they waited for', () => {
    const fold = foldOf(
      ['agent.created', 100],
      ['run.start', 101, { cause: 'prompt' }],
      ['message.added', 101, { message: text('Release it.') }],
      ['turn.start', 101],
      ['turn.request', 102],
      ['model.waiting', 102],
      ['model.waited', 104],
      ['reply.start', 105],
      ['reply.end', 107, { message: text('I deploy.'), costUsd: 0.25 }],
      ['approval.requested', 107, call],
      ['tool.start', 107, { ...call, callId: 'd', name: 'bench', childId: 'a.1' }],
      ['tool.end', 109, { ...call, callId: 'd', ...bad, spent: { costUsd: 2 } }],
      ['approval.decided', 130, { callId: 'c', decision: 'approve' }],
      ['tool.start', 130, call],
      ['tool.end', 131, { ...call, ...done }],
      ['turn.end', 131, { usage, costUsd: 0.25 }],
      ['run.end', 132, { stopReason: 'stop', costUsd: 2.25 }],
    )
    assert.equal(told(fold.roots), [
      'prompt 1-32 waiting 9-30',
      '  turn 1 1-31 waiting 9-30',
      '    reply 2-7 queued 2-4 first 4-5 streaming 5-7',
      '    deploy 7-31 waiting 7-30 work 30-31',
      '    bench 7-9 work 7-9 ✗',
    ])
    const [run] = fold.roots
    const [turn] = run!.inside
    const [reply, deploy, bench] = turn!.inside
    assert.equal([run!.words, reply!.words, deploy!.words], ['Release it.', 'I deploy.', 'production'])
    assert.equal([run!.costUsd, turn!.costUsd, reply!.costUsd, bench!.costUsd], [2.25, 0.25, 0.25, 2])
    assert.equal([run!.waitedMs, turn!.waitedMs, deploy!.waitedMs], [21_000, 21_000, 23_000])
    assert.equal([bench!.childId, bench!.error, deploy!.error], ['a.1', 'exit code 1', undefined])
    assert.equal([run!.seq, run!.endSeq, run!.time], [2, 17, 101_000])
  })

  it('has each attempt of a reply, and none that was not made', () => {
    const reset = { attempt: 1, error: failure, retryAt: 6_000 }
    const lines: readonly Line[] = [
      ['run.start', 0, { cause: 'prompt' }],
      ['turn.start', 0],
      ['reply.reset', 2, reset],
      ['turn.captured', 6],
      ['reply.start', 7],
      ['reply.reset', 8, { attempt: 2, error: failure }],
      ['run.end', 9, { stopReason: 'error', error: failure, costUsd: 0 }],
    ]
    assert.equal(told(foldOf(...lines).roots), [
      'prompt 0-9 ✗',
      '  turn 1 0-9',
      '    reply 0-2 ✗',
      '    reply, attempt 2 2-8 queued 2-6 first 6-7 streaming 7-8 ✗',
    ])
  })

  it('closes what a dead process left open, and what asks a person in the middle of its work', () => {
    const fold = foldOf(
      ['run.start', 0, { cause: 'prompt' }],
      ['turn.start', 0],
      ['reply.end', 1, { message: text(''), costUsd: 0 }],
      ['tool.start', 1, call],
      ['question.asked', 2, { callId: 'c' }],
      ['question.answered', 5, { callId: 'c' }],
      ['run.start', 60, { cause: 'resume' }],
      ['tool.end', 61, { ...call, ...done }],
    )
    assert.equal(told(fold.roots), [
      'prompt 0-60 waiting 2-5 cut',
      '  turn 1 0-60 waiting 2-5 cut',
      '    reply 0-1',
      '    deploy 1-60 work 1-2 waiting 2-5 work 5-60 cut',
      'resume 60-…',
      '  deploy 61-61',
    ])
  })

  it('has policies and compactions beside the request, which begins after them, and sub-agents beside the runs', () => {
    const fold = foldOf(
      ['run.start', 0, { cause: 'prompt' }],
      ['turn.start', 0],
      ['policy.start', 0, { policy: 'tidy' }],
      ['policy.end', 2],
      ['child.spawned', 3, { childId: 'a.1', definition: 'scout' }],
      ['child.spawned', 3, { childId: 'x', definition: 'ghost', incognito: true }],
      ['reply.end', 4, { message: text(''), costUsd: 0 }],
      ['turn.end', 4, { usage, costUsd: 0 }],
      ['run.end', 4, { stopReason: 'stop', costUsd: 0 }],
      ['child.ended', 9, { childId: 'a.1', error: failure, spent: { costUsd: 1 } }],
      ['agent.stopped', 10],
    )
    assert.equal(told(fold.roots), [
      'prompt 0-4',
      '  turn 1 0-4',
      '    policy 0-2',
      '    reply 2-4',
      'scout 3-9 ✗',
      'ghost 3-10 cut',
    ])
    assert.equal(
      fold.roots.map(({ childId }) => childId),
      [undefined, 'a.1', undefined],
    )
  })

  it('does not go back with its clock, and says where that was', () => {
    const fold = foldOf(
      ['run.start', 100, { cause: 'prompt' }],
      ['turn.start', 101],
      ['reply.end', 40, { message: text(''), costUsd: 0 }],
      ['tool.start', 41, call],
      ['tool.end', 43, { ...call, ...done }],
    )
    assert.equal(told(fold.roots), ['prompt 0-… ⟲', '  turn 1 1-… ⟲', '    reply 1-1 ⟲', '    deploy 2-4 work 2-4'])
    assert.is(fold.at(44_000), 5_000)
    assert.is(fold.at(0), 4_000)
  })

  it('is looked at once as a list grows, and begins again when it is shorter', () => {
    const source = new SpanSource()
    const events = logOf(['run.start', 0, { cause: 'prompt' }], ['turn.start', 1])
    const fold = source.of(events, 1)
    assert.is(source.of(events, 2), fold)
    assert.is(fold.version, 2)
    assert.equal(told(source.of(events, 1).roots), ['prompt 0-…'])
  })
})

describe('the rows of the bars', (it) => {
  const options = {
    agentId: 'a',
    flipped: new Set<string>(),
    logOf: (() => undefined) as LogInside,
    until: null,
    closedBefore: 0,
  }
  const child = foldOf(
    ['run.start', 8, { cause: 'prompt' }],
    ['turn.start', 9],
    ['turn.end', 30, { usage, costUsd: 0 }],
  )
  const parent = foldOf(
    ['run.start', 0, { cause: 'prompt' }],
    ['turn.start', 0],
    ['reply.end', 1, { message: text(''), costUsd: 0 }],
    ['tool.start', 1, { ...call, childId: 'a.1' }],
    ['tool.end', 20, { ...call, ...bad }],
    ['turn.end', 20, { usage, costUsd: 0 }],
    ['turn.start', 21, { turnIndex: 1 }],
  )
  const named = (rows: ReturnType<typeof spanRows>): string[] =>
    rows.map(
      ({ span, level, isOpen, from, to }) =>
        `${level} ${span.name} ${from}-${to}${isOpen === undefined ? '' : isOpen ? ' −' : ' +'}`,
    )

  it('are closed for sub-agents, whose log is asked for and lies within its call', () => {
    const rows = spanRows(parent.roots, options)
    assert.equal(named(rows), [
      '1 prompt 0-null −',
      '2 turn 1 0-20000 −',
      '3 reply 0-1000',
      '3 deploy 1000-20000 +',
      '2 turn 2 21000-null −',
      '3 reply 21000-null',
    ])
    const { key } = rows[3]!
    const opened = (isRead: boolean, roots: readonly Span[]) =>
      spanRows(parent.roots, {
        ...options,
        flipped: new Set([key]),
        logOf: (of) => (of === key ? { roots, isRead } : undefined),
      })
    assert.is(opened(false, [])[3]!.note, 'loading the log')
    assert.is(opened(true, [])[3]!.note, 'log is empty')
    const anchored = new SpanFold({ time: 1_000, at: 1_000 })
    for (const event of logOf(
      ['run.start', 8, { cause: 'prompt' }],
      ['turn.start', 9],
      ['turn.end', 30, { usage, costUsd: 0 }],
    ))
      anchored.take(event)
    const below = opened(true, anchored.roots)
    // A single run has no row of its own.
    assert.equal(named(below).slice(3, 6), ['3 deploy 1000-20000 −', '4 turn 1 9000-20000 −', '5 reply 9000-20000'])
    assert.is(below[4]!.agentId, 'a.1')
    assert.is(new Set(below.map((row) => row.key)).size, below.length)
    assert.is(child.roots.length, 1)
  })

  it('end at the moment that is shown, and leave later ones out', () => {
    const rows = spanRows(parent.roots, { ...options, until: 22_000 })
    assert.equal(
      rows.map(({ to }) => to),
      [22_000, 20_000, 1_000, 20_000, 22_000, 22_000],
    )
  })

  it('of old turns are closed, but for those in which something failed', () => {
    const rows = spanRows(parent.roots, { ...options, closedBefore: 100 })
    assert.equal(named(rows), [
      '1 prompt 0-null −',
      '2 turn 1 0-20000 −',
      '3 reply 0-1000',
      '3 deploy 1000-20000 +',
      '2 turn 2 21000-null +',
    ])
  })

  it('are found by the record they began or ended with, or that was written meanwhile', () => {
    const rows = spanRows(parent.roots, options)
    assert.equal(
      [1, 2, 4, 5, 6, 99].map((seq) => rowOf(rows, 'a', seq)),
      [0, 1, 3, 3, 1, 5],
    )
    assert.is(rowOf(rows, 'b', 1), -1)
  })
})

/** Any events in any order: what logs of crashed, resumed and newer agents have is part of it. */
const types = [
  'run.start',
  'run.end',
  'turn.start',
  'turn.start',
  'turn.end',
  'turn.request',
  'model.waiting',
  'model.waited',
  'reply.start',
  'reply.end',
  'reply.reset',
  'approval.requested',
  'approval.decided',
  'question.asked',
  'question.answered',
  'tool.start',
  'tool.end',
  'compaction.start',
  'compaction.end',
  'child.spawned',
  'child.ended',
  'agent.stopped',
] as const
const lines = array(
  record({
    type: constantFrom(...types),
    id: constantFrom('c', 'd', 'e'),
    after: integer({ min: -40, max: 40 }),
  }),
  { maxLength: 60 },
)
const anyLog = lines.map((all) => {
  let time = 1_000
  return logOf(
    ...all.map(({ type, id, after }): Line => {
      time += after
      const both = { callId: id, childId: `a.${id}`, name: 'look', input: {}, definition: 'scout', cause: 'prompt' }
      return [
        type,
        time,
        { ...both, ...done, error: failure, stopReason: 'stop', costUsd: 0, usage, attempt: 1, spent: { costUsd: 0 } },
      ]
    }),
  )
})

/** That it lies within its parent, its parts within it one after the other, and that of each kind but calls one is there at a time. */
function checkSpans(spans: readonly Span[], from: number, to: number | null): void {
  const ends = new Map<string, number>()
  for (const span of spans) {
    const end = span.to ?? to ?? Infinity
    assert.ok(span.from >= from && span.from <= end && end <= (to ?? Infinity), `${span.key} is outside`)
    assert.ok(span.waitedMs >= 0 && span.waitedMs <= end - span.from, `${span.key} waits too long`)
    if (span.kind === 'run' || span.kind === 'turn' || span.kind === 'reply') {
      assert.ok(span.from >= (ends.get(span.kind) ?? 0), `${span.key} overlaps the one before`)
      ends.set(span.kind, end)
    }
    let last = span.from
    for (const part of span.parts) {
      assert.ok(part.from >= last && (part.to ?? end) >= part.from && (part.to ?? end) <= end, `a part of ${span.key}`)
      last = part.to ?? end
    }
    checkSpans(span.inside, span.from, span.to ?? to)
  }
}

describe('bars', (it) => {
  it('lie within those they belong to and are told apart, whatever a log holds', () => {
    check(
      property(anyLog, (events) => {
        const fold = new SpanFold()
        for (const event of events) fold.take(event)
        checkSpans(fold.roots, 0, null)
        const rows = spanRows(fold.roots, {
          agentId: 'a',
          flipped: new Set(),
          logOf: () => ({ roots: fold.roots, isRead: true }),
          until: fold.end,
          closedBefore: 0,
        })
        assert.is(new Set(rows.map(({ key }) => key)).size, rows.length)
        for (const { from, to } of rows) assert.ok(from <= to! && to! <= fold.end)
      }),
      { numRuns: someRuns(400), seed: 19 },
    )
  })

  it('of a run say the same of waiting as its line in the terminal', () => {
    check(
      property(anyLog, (events) => {
        const fold = new SpanFold()
        const times = new WorkTimes()
        const open = new Set<string>()
        for (const event of events) {
          const { type } = event
          // Turns close their calls, and of a call that has not begun nothing is asked.
          if (type === 'turn.start' || type === 'turn.end') continue
          const callId = 'callId' in event ? event.callId : ''
          if (/^question|decided$/.test(type) && !open.has(callId)) continue
          if (type === 'run.start' || type === 'run.end' || type === 'agent.stopped') open.clear()
          if (type === 'tool.start' || type === 'approval.requested') open.add(callId)
          if (type === 'tool.end') open.delete(callId)
          const run = fold.roots.findLast(({ kind }) => kind === 'run')
          fold.take(event)
          const took = times.take(event)
          if (event.type !== 'run.end' || took === undefined) continue
          assert.equal({ ms: run!.to! - run!.from - run!.waitedMs, waitedMs: run!.waitedMs }, took)
        }
      }),
      { numRuns: someRuns(400), seed: 19 },
    )
  })
})

import { requestChange } from '../../../../sessions/src/requestChange.ts'
import type { ModelRequest, RequestMessage } from '../../../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { RequestView } from '../../../src/inspector/model/agent/agentView.ts'
import { markCounts, requestMarks } from '../../../src/inspector/model/requests/requestMarks.ts'
import { jsonLines } from '../../../src/inspector/model/requests/jsonLines.ts'
import { changedRows, compareRequests, requestRows } from '../../../src/inspector/model/requests/requestRows.ts'
import { requestReasons } from '../../../src/inspector/model/requests/requestReason.ts'
import { requestTokens, requestUsage } from '../../../src/inspector/model/requests/requestSize.ts'
import * as fc from 'fast-check'
import { assert, describe } from '../../../../../test/support/suite.ts'

const said = (text: string): RequestMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 's',
  tools: [],
  settings: {},
  messages: [],
  ...changes,
})
const tool = (name: string, description = '') => ({ name, description, inputSchema: {} })

describe('messages beside those of the request before', (it) => {
  it('are kept from the beginning, then moved or new, and what is sent no more is named', () => {
    const before = ['a', 'b', 'c', 'd'].map(said)
    const now = ['a', 'x', 'c', 'e'].map(said)
    assert.equal(requestMarks(before, now, 1), { marks: ['kept', 'new', 'moved', 'new'], gone: [1, 3] })
    assert.equal(markCounts(requestMarks(before, now, 1)), { moved: 1, added: 2, gone: 2 })
  })

  it('that are equal are matched once each', () => {
    const before = ['a', 'b', 'b'].map(said)
    const now = ['b', 'b', 'b'].map(said)
    assert.equal(requestMarks(before, now, 0), { marks: ['moved', 'moved', 'new'], gone: [0] })
  })

  it('of the same request are all kept', () => {
    const messages = ['a', 'b'].map(said)
    assert.equal(requestMarks(messages, messages, 2), { marks: ['kept', 'kept'], gone: [] })
    assert.equal(requestMarks([], [], 0), { marks: [], gone: [] })
  })
})

const view = (made: Partial<ModelRequest>, kept = 0): RequestView => ({
  isLive: false,
  seq: 1,
  runId: 'a/r0',
  turnIndex: 0,
  attempt: 1,
  kept,
  model: 'm',
  request: request(made),
  provenance: [],
})
const closed = { showsSame: false, showsGone: false }

describe('the rows of a request', (it) => {
  const before = view({ messages: ['a', 'b', 'c', 'd', 'e'].map(said) })
  const now = view({ system: 't', messages: ['a', 'b', 'x', 'y', 'd', 'e', 'z'].map(said) }, 2)
  const compared = compareRequests(now, before)

  it('have what is the same as before in one line, and what is gone where the two part', () => {
    const rows = requestRows(compared, closed)
    assert.equal(rows, [
      { type: 'system', isChanged: true },
      { type: 'tools', isChanged: false },
      { type: 'settings', isChanged: false },
      { type: 'same', mark: 'kept', from: 0, to: 2 },
      { type: 'gone', count: 1 },
      { type: 'message', at: 2, mark: 'new' },
      { type: 'message', at: 3, mark: 'new' },
      { type: 'same', mark: 'moved', from: 4, to: 6 },
      { type: 'message', at: 6, mark: 'new' },
    ])
    assert.equal(changedRows(rows), [0, 4, 5, 8])
  })

  it('are as many changes when all is shown', () => {
    const rows = requestRows(compared, { showsSame: true, showsGone: true })
    assert.is(rows.length, 3 + 7 + 2 + 1 + 1)
    assert.equal(
      changedRows(rows).map((at) => rows[at]!.type),
      ['system', 'gone', 'message', 'message'],
    )
    assert.equal(
      rows.filter(({ type }) => type === 'lost'),
      [{ type: 'lost', at: 2 }],
    )
  })

  it('are all there when there is nothing to compare it with, and no change', () => {
    const rows = requestRows(compareRequests(now, undefined), closed)
    assert.equal(
      rows.slice(3),
      now.request.messages.map((_, at) => ({ type: 'message', at })),
    )
    assert.equal(changedRows(rows), [])
  })

  it('say that all after a point is gone', () => {
    const rows = requestRows(compareRequests(view({ messages: [said('a')] }, 1), before), closed)
    assert.equal(rows.slice(3), [
      { type: 'same', mark: 'kept', from: 0, to: 1 },
      { type: 'gone', count: 4 },
    ])
    assert.equal(changedRows(rows), [4])
  })

  it('hold every message once, in a line or in a fold', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
    fc.assert(
      fc.property(texts, texts, fc.boolean(), (old, next, showsSame) => {
        let kept = 0
        while (kept < old.length && kept < next.length && old[kept] === next[kept]) kept += 1
        const both = compareRequests(view({ messages: next.map(said) }, kept), view({ messages: old.map(said) }))
        const rows = requestRows(both, { showsSame, showsGone: false })
        const shown = rows.flatMap((row) => {
          if (row.type === 'message') return [row.at]
          return row.type === 'same' && !showsSame
            ? Array.from({ length: row.to - row.from }, (_, at) => row.from + at)
            : []
        })
        assert.equal(
          shown,
          next.map((_, at) => at),
        )
        const gone = rows.reduce((sum, row) => (row.type === 'gone' ? sum + row.count : sum), 0)
        const moved = both.old!.marks.marks.filter((mark) => mark === 'moved').length
        assert.is(gone, old.length - kept - moved)
        assert.is(changedRows(rows).length > 0, both.old!.marks.marks.includes('new') || gone > 0)
      }),
      { seed: 5, numRuns: 300 },
    )
  })
})

describe('the lines of a value as JSON', (it) => {
  const textOf = (value: unknown, toggled: ReadonlySet<string> = new Set()): string =>
    jsonLines(value, toggled)
      .map(({ level, name, text }) => `${'  '.repeat(level)}${name === undefined ? '' : `${name}: `}${text}`)
      .join('\n')

  it('are those of indented JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        const value: unknown = JSON.parse(json)
        assert.is(textOf(value), JSON.stringify(value, undefined, 2))
      }),
      { seed: 6, numRuns: 300 },
    )
  })

  it('fold, and open again at the same place', () => {
    const value = { a: [1, { b: 2 }], c: {} }
    const keys = jsonLines(value, new Set()).flatMap(({ key, fold }) => (fold === undefined ? [] : [key]))
    assert.is(new Set(keys).size, 3)
    assert.is(textOf(value, new Set([keys[1]!])), '{\n  "a": [ … ],\n  "c": {}\n}')
    assert.is(textOf(value, new Set([keys[0]!])), '{ … }')
    assert.is(textOf(value, new Set([keys[2]!])), '{\n  "a": [\n    1,\n    { … }\n  ],\n  "c": {}\n}')
  })

  it('cut what is long, deep or without end, until it is asked for', () => {
    const long = 'x'.repeat(1_999) + '😀y'
    const [cut] = jsonLines(long, new Set())
    assert.is(cut!.cutOf, long.length)
    assert.is(cut!.text, `"${'x'.repeat(1_999)}…`)
    assert.is(jsonLines(long, new Set([cut!.key]))[0]!.text, JSON.stringify(long))

    let deep: unknown = 'bottom'
    for (let level = 0; level < 50_000; level++) deep = [deep]
    const shown = jsonLines(deep, new Set())
    assert.ok(shown.length < 100)
    const { key } = shown.find(({ fold }) => fold?.isOpen === false)!
    assert.is(jsonLines(deep, new Set([key])).length, shown.length + 2)

    const many = { list: Array.from({ length: 30_000 }, (_, at) => at) }
    const [, list] = jsonLines(many, new Set())
    assert.equal(list!.fold, { isOpen: false, count: 30_000 })
    const opened = jsonLines(many, new Set([list!.key]))
    assert.is(opened.length, 10_005)
    assert.is(opened.at(-3)!.text, '… 20000 more')
  })
})

describe('the frame of a request', (it) => {
  it('is compared by system, settings and each tool', () => {
    const before = request({ tools: [tool('a'), tool('b')], messages: [said('x')] })
    const after = request({ system: 't', tools: [tool('b', 'new'), tool('c')], messages: [said('x'), said('y')] })
    assert.equal(requestChange({ request: before }, { request: after, kept: 1 }), {
      kept: 1,
      gone: 0,
      added: 1,
      system: true,
      settings: false,
      tools: { added: ['c'], removed: ['a'], changed: ['b'] },
    })
  })
})

describe('why a message is in a request', (it) => {
  it('is said for each of those that were merged into it', () => {
    const reasons = requestReasons({
      type: 'loopTurn',
      turnIndex: 3,
      role: 'toolResult',
      messageIndex: 1,
      merged: [{ type: 'note', kind: 'lesson' }, { type: 'note', kind: 'memo' }, { type: 'summary' }],
    })
    assert.equal(
      reasons.map(({ word, from }) => `${word}, ${from}`),
      ['tool result, turn 4', 'lesson, left by a revert', 'memo of a prune or fold, ', 'summary, of a compaction'],
    )
  })

  it('is not known without a record of it', () => {
    assert.equal(
      requestReasons(undefined).map(({ word }) => word),
      ['unknown'],
    )
  })
})

describe('the usage of a request', (it) => {
  const turn = { v: 3, runId: 'a/r0', time: 0 } as const
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
  const message = { role: 'assistant', content: [], stopReason: 'stop', usage, model: 'm' } as const
  const reply = { nodeId: 2, parentId: 1, message, costUsd: 0, estimatedTokens: 0 } as const
  const records: readonly LogRecord[] = [
    { ...turn, seq: 1, turnIndex: 0, type: 'turn.start' },
    { ...turn, seq: 2, turnIndex: 0, type: 'reply.end', ...reply },
    { ...turn, seq: 3, turnIndex: 1, type: 'turn.start' },
  ]
  const at = (seq: number, turnIndex: number): RequestView => ({
    isLive: false,
    seq,
    runId: 'a/r0',
    turnIndex,
    attempt: 1,
    kept: 0,
    model: 'm',
    request: request(),
    provenance: [],
  })

  it('is that of the reply to it, and of none while it is waited for', () => {
    assert.equal(requestUsage(records, at(1, 0)), usage)
    assert.is(requestUsage(records, at(3, 1)), undefined)
    assert.is(requestUsage(records, at(1, 7)), undefined)
  })

  it('is estimated over system, tools and messages before', () => {
    const empty = requestTokens(request({ system: '' }))
    const system = requestTokens(request({ system: 'x'.repeat(350) }))
    assert.is(empty, 0)
    assert.is(system, 100)
    assert.ok(requestTokens(request({ system: '', messages: [said('x'.repeat(350))] })) >= 100)
    assert.ok(requestTokens(request({ system: '', tools: [tool('a')] })) > 0)
  })
})

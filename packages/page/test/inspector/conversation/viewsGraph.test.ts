import { someRuns } from '../../../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import { GraphSource } from '../../../src/inspector/model/conversation/graphSource.ts'
import type { ShownRow } from '../../../src/inspector/model/conversation/graphRow.ts'
import { isOpenAtFirst, visibleRows } from '../../../src/inspector/model/conversation/graphVisible.ts'
import { brakedHistories } from '../../../../../test/support/brakeArbitraries.ts'
import { happen } from '../../../../../test/support/brakedHappenings.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const none: ReadonlySet<string> = new Set()

const rowsOf = (log: BrakeLog): GraphRows => {
  const graph = new GraphRows()
  for (const record of log.records) graph.apply(record)
  return graph
}

/** Opens what is closed at first. */
const opening = (graph: GraphRows): ReadonlySet<string> =>
  new Set(
    graph.rows
      .filter((row) => row.type === 'fold' || (row.type === 'tag' && !isOpenAtFirst(row)))
      .map(({ key }) => key),
  )

const label = (row: ShownRow): string => ('nodeId' in row ? `n${row.nodeId}` : row.type)
/** `n1@0` for each row: what it is and its lane. */
const shape = (rows: readonly ShownRow[]): string => rows.map((row) => `${label(row)}@${row.lane}`).join(' ')

/** A user message, two steps of which the second is given up, and an answer. */
const braked = (): BrakeLog => {
  const log = new BrakeLog()
  log.user('sort it')
  const kept = log.step([{ name: 'look', output: 'numbers' }])
  log.step([{ name: 'bubble' }, { name: 'check', isError: true, output: 'too slow' }])
  log.revert(kept, 'bubble sort is too slow')
  log.reply('done')
  return log
}

/** Checks rules that hold for the rows of any conversation. */
function checkRows(graph: GraphRows, { conversation }: BrakeLog): void {
  const placed = graph.rows.filter((row) => row.type === 'message' || row.type === 'call')
  const nodes = conversation.log()
  assert.equal(
    placed.map(({ nodeId }) => nodeId),
    nodes.map(({ id }) => id),
    'every node has its row, in their order',
  )
  for (const { nodeId, lane, isStart } of placed) {
    const { parentId } = conversation.node(nodeId)!
    assert.is(lane === 0, conversation.onTrunk(nodeId), `n${nodeId} is in lane ${lane}`)
    const above = parentId === null ? undefined : graph.row(parentId)
    if (above !== undefined) assert.ok(lane === above.lane || lane === above.lane + 1, `n${nodeId} leaves its parent`)
    if (isStart) assert.ok(lane > 0, 'a branch begins beside the trunk')
  }
  const hidden = new Set((conversation.annotations?.hidden.spans ?? []).flatMap(({ steps }) => steps))
  for (const row of placed) {
    const step = row.type === 'call' ? row.stepId : row.nodeId
    assert.is(row.pruned !== undefined, hidden.has(step), `n${row.nodeId} is pruned or not`)
  }
  const shown = visibleRows(graph, none)
  const fold = shown.find(({ isInForce }) => isInForce)
  assert.is(fold?.row.type === 'fold' ? fold.row.overlay.nodeId : undefined, conversation.overlay?.nodeId)
  assert.is(visibleRows(graph, opening(graph)).length, graph.rows.length, 'with everything open, everything is shown')
}

describe('rows of the conversation', (it) => {
  it('follow the nodes, and a revert moves what it abandoned beside the trunk, after its lesson', () => {
    const graph = rowsOf(braked())
    assert.is(shape(graph.rows), 'n1@0 n2@0 n3@0 tag@0 n4@1 n5@1 n6@1 n7@0')
    const [tag] = graph.rows.filter((row) => row.type === 'tag')
    assert.is(tag!.tag.text, 'bubble sort is too slow')
    assert.is(tag!.until, graph.row(6)!.key)
    assert.ok(graph.row(4)!.isStart)
  })

  it('tell what a revert, a prune and a compaction save, if their records do', () => {
    const log = braked()
    for (let n = 0; n < 4; n++) log.step([{}])
    log.prune({ steps: ['n2'], memo: 'looked' })
    log.compact()
    const economics = { freed: 1_240, rewritten: 60, paysAfter: 3 }
    const told = (records: readonly LogRecord[]): unknown[] => {
      const graph = new GraphRows()
      for (const record of records) graph.apply(record)
      return graph.rows.flatMap((row) => {
        if (row.type === 'memo') return [row.outcome.economics]
        return row.type === 'tag' || row.type === 'fold' ? [row.economics] : []
      })
    }
    const isReshaping = ({ type }: LogRecord): boolean =>
      ['revert.applied', 'prune.applied', 'compaction.end'].includes(type)
    const withIt = log.records.map((record) => (isReshaping(record) ? { ...record, economics } : record)) as LogRecord[]
    assert.equal(told(withIt), [economics, economics, economics])
    assert.equal(told(log.records), [undefined, undefined, undefined])
  })

  it('have what stands for folded steps: the memo and index of each fold, and later the memo it was rolled up into', () => {
    const graph = new GraphRows()
    const log = new BrakeLog()
    log.user('go')
    for (let n = 0; n < 4; n++) log.step([{}])
    for (const record of log.records) graph.apply(record)
    const fold = (id: string, step: number, more: object = {}): void =>
      graph.apply({
        type: 'prune.applied',
        id,
        applied: true,
        by: 'runtime',
        steps: [step],
        tokens: 100,
        memo: `n${step} did`,
        ...more,
      } as unknown as LogRecord)
    const memos = (): unknown[] =>
      graph.rows.flatMap((row) => (row.type === 'memo' ? [[row.memo, row.mergedInto, row.outcome.index]] : []))
    fold('f1', 2, { index: 'n2 parseUser' })
    fold('f2', 4)
    fold('f3', 6, { rolled: [{ folds: ['f1'], detail: 'shortLine', memo: 'n2' }] })
    assert.equal(memos(), [
      ['n2', undefined, 'n2 parseUser'],
      ['n4 did', undefined, undefined],
      ['n6 did', undefined, undefined],
    ])
    fold('f4', 8, { rolled: [{ folds: ['f2', 'f1'], detail: 'digest', memo: 'n2–n4 2 steps' }] })
    assert.equal(memos().slice(0, 2), [
      ['n2–n4 2 steps', undefined, 'n2 parseUser'],
      ['', 2, undefined],
    ])
    const row = graph.row(5)
    assert.is(row?.pruned?.by, 'runtime')
  })

  it('put a branch of a branch one lane further', () => {
    const log = braked()
    const last = log.step([{ name: 'again' }])
    assert.is(last, 9)
    log.revert('n1', 'all of it was wrong', 'tangent')
    assert.is(shape(rowsOf(log).rows), 'n1@0 tag@0 n2@1 n3@1 tag@1 n4@2 n5@2 n6@2 n7@1 n8@1 n9@1')
  })

  it('hide a closed branch as a whole, and the calls of a closed message', () => {
    const graph = rowsOf(braked())
    const [tag] = graph.rows.filter((row) => row.type === 'tag')
    const shown = visibleRows(graph, new Set([tag!.key, graph.row(2)!.key]))
    assert.is(shape(shown.map(({ row }) => row)), 'n1@0 n2@0 tag@0 n7@0')
    assert.equal(
      shown.map(({ isOpen, hidden }) => [isOpen, hidden]),
      [
        [undefined, 0],
        [false, 1],
        [false, 3],
        [undefined, 0],
      ],
    )
  })

  it('fold the span of a compaction but for what people said, until it is opened', () => {
    const log = new BrakeLog()
    log.user('one')
    log.step([{ name: 'a' }])
    log.user('two', 'steering')
    log.step([{ name: 'b' }])
    log.step([{ name: 'c' }])
    log.compact({ first: 1, recent: 1 })
    const graph = rowsOf(log)
    const folded = shape(visibleRows(graph, none).map(({ row }) => row))
    assert.is(folded, 'n1@0 fold@0 n4@0 n7@0 n8@0')
    const [fold] = graph.rows.filter((row) => row.type === 'fold')
    const opened = shape(visibleRows(graph, new Set([fold!.key])).map(({ row }) => row))
    assert.is(opened, 'n1@0 fold@0 n2@0 n3@0 n4@0 n5@0 n6@0 n7@0 n8@0')
  })

  it('draw the trunk past a branch, and end it where nothing follows', () => {
    const lines = visibleRows(rowsOf(braked()), none).map(
      ({ row, passing, isJoined, goesOn }) =>
        `${label(row)} ${passing.toString(2)} ${isJoined ? 'joined' : 'begins'} ${goesOn ? 'on' : 'ends'}`,
    )
    assert.equal(lines, [
      'n1 0 begins on',
      'n2 0 joined on',
      'n3 0 joined on',
      'tag 0 joined on',
      'n4 1 begins on',
      'n5 1 joined on',
      'n6 1 joined ends',
      'n7 0 joined ends',
    ])
  })

  it('follow a call from pending to its end, with what its tool reports', () => {
    const log = braked()
    const at = { v: 3, runId: 'a/r0', turnIndex: 9 } as const
    const graph = rowsOf(log)
    const call = { type: 'toolCall', callId: 'x', name: 'build', input: { all: true } } as const
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const status = (): unknown[] => {
      const row = graph.row(9)!
      return row.type === 'call' ? [row.status, row.progress, row.childId] : []
    }
    graph.apply({
      ...at,
      seq: 90,
      time: 90,
      type: 'reply.end',
      nodeId: 8,
      parentId: 7,
      message: { role: 'assistant', content: [call], stopReason: 'toolUse', usage, model: 'm' },
      costUsd: 0,
      estimatedTokens: 0,
    })
    assert.equal(status(), ['pending', undefined, undefined])
    graph.apply({
      ...at,
      seq: 91,
      time: 91,
      type: 'approval.requested',
      callId: 'x',
      key: 'k',
      name: 'build',
      input: {},
    })
    assert.equal(status(), ['held', undefined, undefined])
    graph.apply({ ...at, seq: 92, time: 92, type: 'approval.decided', callId: 'x', key: 'k', decision: 'approve' })
    graph.apply({
      ...at,
      seq: 93,
      time: 93,
      type: 'tool.start',
      callId: 'x',
      key: 'k',
      name: 'build',
      input: {},
      childId: 'kid',
    })
    graph.applyLive({
      ...at,
      agentId: 'a',
      path: [],
      seq: 93,
      time: 94,
      type: 'tool.progress',
      callId: 'x',
      name: 'build',
      progress: '50 %',
    })
    assert.equal(status(), ['running', '50 %', 'kid'])
    const message = { role: 'toolResult', callId: 'x', toolName: 'build', content: [], isError: false } as const
    graph.apply({
      ...at,
      seq: 94,
      time: 95,
      type: 'tool.end',
      nodeId: 9,
      parentId: 8,
      callId: 'x',
      key: 'k',
      name: 'build',
      message,
    })
    assert.is(status()[0], 'ended')
  })

  it('drop the step that a fork left open with its source, and say where the fork begins', () => {
    const log = braked()
    const graph = rowsOf(log)
    const call = { type: 'toolCall', callId: 'x', name: 'build', input: {} } as const
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const message = { role: 'assistant', content: [call], stopReason: 'toolUse', usage, model: 'm' } as const
    const at = { v: 3, runId: 'a/r0', turnIndex: 9 } as const
    graph.apply({
      ...at,
      seq: 90,
      time: 90,
      type: 'reply.end',
      nodeId: 8,
      parentId: 7,
      message,
      costUsd: 0,
      estimatedTokens: 0,
    })
    const forkedFrom = { agentId: 'a', seq: 90, at: 7 }
    const born = {
      v: 3,
      seq: 1,
      time: 91,
      type: 'agent.created',
      agentId: 'f',
      path: [],
      definition: 'd',
      model: 'm',
      machine: 'x',
    } as const
    graph.apply({ ...born, forkedFrom })
    assert.is(graph.row(8), undefined)
    assert.is(label(graph.rows.at(-1)!), 'notice')
    const { version } = graph
    graph.applyLive({
      ...at,
      agentId: 'f',
      path: [],
      seq: 1,
      time: 92,
      type: 'tool.progress',
      callId: 'x',
      name: 'build',
      progress: 1,
    })
    assert.is(graph.version, version, 'the call is the source’s')
    assert.is(graph.rows.filter((row) => 'nodeId' in row).length, 7)
  })

  it(
    'are those of the conversation for any history, with lanes that lead from parent to child',
    { timeoutMs: 20_000 },
    () => {
      const property = fc.property(
        brakedHistories({ maxLength: 30 }),
        fc.constantFrom('refuse' as const, 'rebase' as const),
        (history, onUserMessage) => {
          const log = new BrakeLog({ policy: { onUserMessage } })
          const source = new GraphSource()
          log.user('the task')
          for (const what of history) {
            happen(log, what)
            checkRows(source.update({ records: log.records, events: [], at: null }), log)
          }
        },
      )
      fc.assert(property, { seed: 11, numRuns: someRuns(150) })
    },
  )
})

describe('rows of a moment', (it) => {
  it('are those of the log up to there, and grow in place when time goes on', () => {
    const { records } = braked()
    const source = new GraphSource()
    const early = source.update({ records, events: [], at: 4 })
    assert.is(shape(early.rows), 'n1@0 n2@0 n3@0 n4@0 n5@0 n6@0')
    const later = source.update({ records, events: [], at: null })
    assert.is(later, early)
    assert.is(later.rows.length, 8)
    const back = source.update({ records, events: [], at: 1 })
    assert.is(shape(back.rows), 'n1@0')
  })

  it('of a fork begin with what it shares, whenever that comes', () => {
    const past = [braked().records]
    const own = new BrakeLog()
    own.user('and now?')
    const records = own.records.map((record) => ({ ...record, nodeId: 8, parentId: 7 }) as (typeof own.records)[number])
    const source = new GraphSource()
    source.update({ records, events: [], at: null })
    const graph = source.update({ past, records, events: [], at: null })
    assert.is(shape(graph.rows.slice(-2)), 'n7@0 n8@0')
  })

  it(
    'are changed by a revert only where it gives something up: 10,000 nodes, 200 reverts',
    { timeoutMs: 20_000 },
    () => {
      const log = new BrakeLog()
      log.user('go')
      for (let i = 0; i < 200; i++) {
        const kept = log.step([{ name: 'a' }, { name: 'b' }])
        for (let j = 0; j < 15; j++) log.step([{ name: 'a' }, { name: 'b' }])
        log.revert(kept)
      }
      const graph = rowsOf(log)
      assert.ok(visibleRows(graph, opening(graph)).length > 9_800)
      const changes = graph.rows.reduce((sum, { version }) => sum + version, 0)
      assert.ok(changes <= 3 * graph.rows.length, `${changes} changes of ${graph.rows.length} rows`)
    },
  )
})

import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import {
  answerIn,
  isOpenAtFirst,
  visibleRows,
  type VisibleRow,
} from '../../../src/inspector/model/conversation/graphVisible.ts'
import { workWords } from '../../../src/inspector/model/conversation/hiddenWork.ts'
import { dayTime, exactTime } from '../../../src/inspector/model/words/dayTime.ts'
import { revealNode } from '../../../src/inspector/model/conversation/revealNode.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const none: ReadonlySet<string> = new Set()

const graphOf = (log: BrakeLog): GraphRows => {
  const graph = new GraphRows()
  for (const record of log.records) graph.apply(record)
  return graph
}

const shape = (rows: readonly VisibleRow[]): string =>
  rows
    .map(({ row }) => ('nodeId' in row ? `n${row.nodeId}` : row.type === 'repeat' ? `${row.times}×` : row.type))
    .join(' ')

const failing = { name: 'run', isError: true, output: 'exit code 1' } as const

describe('the newest answer', (it) => {
  it('is the last reply of the trunk that calls nothing, until something is said after it', () => {
    const log = new BrakeLog()
    const answer = (): string | undefined => answerIn(visibleRows(graphOf(log), none))?.key
    log.user('go')
    assert.is(answer(), undefined)
    log.step([{ name: 'look' }])
    assert.is(answer(), undefined)
    log.reply('done')
    const graph = graphOf(log)
    assert.is(answerIn(visibleRows(graph, none)), graph.rows.at(-1))
    log.user('more')
    assert.is(answer(), undefined)
  })
})

describe('an abandoned branch', (it) => {
  const branched = (steps: number): GraphRows => {
    const log = new BrakeLog()
    log.user('go')
    const kept = log.step([{ name: 'look' }])
    for (let index = 0; index < steps; index++)
      log.step([{ ...failing, isError: index % 2 === 0, name: `run${index}` }])
    log.revert(kept)
    log.reply('done')
    return graphOf(log)
  }

  it('is closed at first when it has more than six nodes, and says what it did', () => {
    assert.is(shape(visibleRows(branched(3), none)), 'n1 n2 n3 tag n4 n5 n6 n7 n8 n9 n10')
    const rows = visibleRows(branched(4), none)
    assert.is(shape(rows), 'n1 n2 n3 tag n12')
    const tag = rows.find(({ row }) => row.type === 'tag')!
    assert.equal([tag.isOpen, tag.hidden], [false, 8])
    assert.is(workWords(tag.work!), '4 steps abandoned · 2 failed calls')
    assert.is(workWords({ steps: 20, edits: 7, failures: 1 }), '20 steps abandoned · 7 edits, 1 failed call')
  })

  it('is opened by a person, and by a link to a node of it', () => {
    const graph = branched(4)
    const tag = graph.rows.find(({ type }) => type === 'tag')!
    assert.is(isOpenAtFirst(tag), false)
    assert.is(visibleRows(graph, new Set([tag.key])).length, graph.rows.length)
    assert.equal(revealNode(graph, 6, none), new Set([tag.key]))
    assert.is(revealNode(graph, 12, none), undefined)
  })
})

describe('calls that fail the same way', (it) => {
  const repeated = (times: number): BrakeLog => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'look' }])
    for (let index = 0; index < times; index++) log.step([failing])
    return log
  }

  it('are one row from the third on, which counts them', () => {
    assert.is(shape(visibleRows(graphOf(repeated(2)), none)), 'n1 n2 n3 n4 n5 n6 n7')
    const log = repeated(3)
    assert.is(shape(visibleRows(graphOf(log), none)), 'n1 n2 n3 3×')
    log.step([failing])
    log.reply('I give up')
    const graph = graphOf(log)
    const rows = visibleRows(graph, none)
    assert.is(shape(rows), 'n1 n2 n3 4× n12')
    assert.equal([rows[3]!.isOpen, rows[3]!.hidden], [false, 8])
    assert.is(shape(visibleRows(graph, new Set([rows[3]!.row.key]))), 'n1 n2 n3 4× n4 n5 n6 n7 n8 n9 n10 n11 n12')
  })

  it('are others when they ask for something else, succeed, or are not alone in their step', () => {
    const log = new BrakeLog()
    log.user('go')
    for (const name of ['run', 'run', 'check', 'run', 'run']) log.step([{ ...failing, name }])
    log.step([{ name: 'run' }])
    for (let index = 0; index < 3; index++) log.step([failing, failing])
    assert.not.match(shape(visibleRows(graphOf(log), none)), /×/)
  })

  it('are opened by a link to one of them', () => {
    const graph = graphOf(repeated(5))
    const [key] = visibleRows(graph, none).flatMap(({ row }) => (row.type === 'repeat' ? [row.key] : []))
    assert.equal(revealNode(graph, 9, none), new Set([key!]))
    assert.equal(revealNode(graph, 4, none), new Set([key!]))
  })
})

describe('the time of a row', (it) => {
  it('has the day where that changes, and is nothing where there is none', () => {
    const noon = new Date(2026, 10, 22, 12, 5).getTime()
    const later = new Date(2026, 10, 22, 14, 0).getTime()
    const next = new Date(2026, 10, 23, 0, 1).getTime()
    assert.equal(
      [dayTime(noon, undefined), dayTime(later, noon), dayTime(next, later), dayTime(noon, next)],
      ['22 Nov, 12:05', '14:00', '23 Nov, 00:01', '22 Nov, 12:05'],
    )
    assert.equal([dayTime(Number.NaN, noon), dayTime(noon, 1e300), exactTime(Infinity)], ['', '22 Nov, 12:05', ''])
  })
})

describe('a run that failed', (it) => {
  it('is told once, though its last attempt failed for the same reason', () => {
    const at = { v: 3, time: 1, runId: 'a/r0', turnIndex: 0 } as const
    const error = { code: 'MODEL_FAILED', message: 'no credit' } as const
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    const told = (message: string): readonly string[] => {
      const graph = new GraphRows()
      graph.apply({ ...at, seq: 1, type: 'reply.reset', attempt: 1, error: { ...error, kind: 'auth' } } as never)
      graph.apply({
        ...at,
        seq: 2,
        type: 'run.end',
        stopReason: 'error',
        error: { ...error, message },
        turns: 0,
        usage,
        costUsd: 0,
      } as never)
      return graph.rows.map((row) => (row.type === 'notice' ? `${row.tone}: ${row.text}` : row.type))
    }
    assert.equal(told('no credit'), ['bad: The run failed: no credit'])
    assert.equal(told('another'), [
      'warning: Attempt 1 failed: no credit (no further attempt)',
      'bad: The run failed: another',
    ])
  })
})

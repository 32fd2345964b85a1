import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { liveColumns, noLiveFigures, publishRow } from '../src/report/publishRow.ts'
import type { Report } from '../src/report/report.ts'
import { reportOf } from '../src/report/reportOf.ts'
import type { EvaluationHeader } from '../src/results.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { madeUp, type MadeUp } from './madeUp.ts'

const page = await readFile(join(import.meta.dirname, '..', '..', '..', 'docs', 'evidence.md'), 'utf8')

/** The page before anything was published. */
function evidence(): string {
  const lines = page.split('\n')
  const at = lines.indexOf(`| ${liveColumns.join(' | ')} |`)
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'))
  return [
    ...lines.slice(0, at + 2),
    `| ${noLiveFigures} |${' |'.repeat(liveColumns.length - 1)}`,
    ...lines.slice(end),
  ].join('\n')
}

const evaluation = (seed = 2): MadeUp =>
  madeUp({
    tasks: 20,
    trials: 3,
    arms: ['off', 'fold|recall'],
    seed,
    skill: (task, arm) => ({ passes: (task % 3) / 4 + arm * 0.5, costs: 0.02 / (arm + 1) }),
  })

const reported = ({ header, results }: MadeUp, change: Partial<EvaluationHeader> = {}): Report =>
  reportOf({ ...header, ...change }, results)

/** The rows of the table of live figures, as cells. */
function rowsIn(text: string): string[][] {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.startsWith(`| ${liveColumns[0]} | ${liveColumns[1]} |`))
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'))
  return lines.slice(at + 2, end).map((line) => line.slice(2, -2).split(/ \| /))
}

describe('publishing', (it) => {
  it('finds its table on the page of evidence, which says that none has been run as long as that is so', () => {
    const rows = rowsIn(page)
    assert.ok(page.includes(`\n| ${liveColumns.join(' | ')} |\n`))
    assert.ok(rows.length > 0)
    // One cell and nothing after it, in place of rows.
    const isNone = rows.some(([first]) => first!.includes(noLiveFigures))
    assert.ok(!isNone || rows.length === 1)
    assert.ok(isNone || rows.every((row) => row.length === liveColumns.length))
  })

  it('writes a row for each arm in place of the word that there is none, and leaves the rest of the page as it was', () => {
    const published = publishRow(reported(evaluation()), evidence())
    const rows = rowsIn(published)
    assert.is(rows.length, 2)
    for (const row of rows) assert.is(row.length, liveColumns.length)
    const [off, fold] = rows as [string[], string[]]
    assert.equal(off.slice(0, 6), [
      'lab:thinker',
      '2026-11-24',
      'escapement 0.2.0, Node 24.21.0',
      'made-up c0ffeec0ffee',
      'off',
      '20 × 3',
    ])
    assert.match(off[6]!, /^\d+ % \(\d+ % to \d+ %\)$/)
    assert.match(off[7]!, /^k = 3: \d+ % \(/)
    assert.equal(off.slice(8, 11), ['baseline', '1', '–'])
    assert.is(fold[4], String.raw`fold\|recall`)
    assert.match(fold[8]!, /^passes more: \+[\d.]+ points \(\+[\d.]+ to \+[\d.]+\)$/)
    assert.match(fold[9]!, /^× \.\d\d \(× \.\d\d to × \.\d\d\)$/)
    assert.match(fold[10]!, /^[<.\d ]+, [<.\d ]+$/)
    assert.match(fold[11]!, /^\$\d/)
    assert.is(fold[12], '2')
    const others = (text: string): string[] =>
      text.split('\n').filter((line) => !line.startsWith('| lab:') && !line.includes(noLiveFigures))
    assert.equal(others(published), others(evidence()))
  })

  it('replaces rows of the same model, day, suite and arm, and keeps others', () => {
    const first = publishRow(reported(evaluation()), evidence())
    const again = publishRow(reported(evaluation(7)), first)
    assert.equal(
      rowsIn(again).map((row) => [row[4], row[12]]),
      [
        ['off', '7'],
        [String.raw`fold\|recall`, '7'],
      ],
    )
    const nextDay = publishRow(reported(evaluation(), { startedAt: Date.UTC(2026, 10, 25) }), again)
    assert.equal(
      rowsIn(nextDay).map((row) => row[1]),
      ['2026-11-24', '2026-11-24', '2026-11-25', '2026-11-25'],
    )
    assert.is(publishRow(reported(evaluation(7)), again), again)
  })

  it('says so where costs are not known', () => {
    const { header, results } = evaluation()
    const unpriced = { header: { ...header, arms: header.arms.map((arm) => ({ ...arm, isPriced: false })) }, results }
    const [, fold] = rowsIn(publishRow(reported(unpriced), evidence()))
    assert.equal([fold![9], fold![11]], ['–', 'not priced'])
    assert.match(fold![10]!, /, –$/)
  })

  const refusals: readonly (readonly [
    title: string,
    report: () => Report,
    change: (text: string) => string,
    words: string,
  ])[] = [
    [
      'a page without the table',
      () => reported(evaluation()),
      (text) => text.replace('| model | date |', '| model | day |'),
      'The page has no table with the columns model | date',
    ],
    [
      'an evaluation of which trials are missing',
      () => {
        const { header, results } = evaluation()
        return reportOf(header, results.slice(5))
      },
      (text) => text,
      'of 120 trials 5 are missing and 0 ended with errors. Resume it first.',
    ],
    [
      'an evaluation with errors',
      () => {
        const { header, results } = evaluation()
        return reportOf(
          header,
          results.map((result, index) => (index === 3 ? { ...result, outcome: 'error' as const } : result)),
        )
      },
      (text) => text,
      '0 are missing and 1 ended with errors',
    ],
    [
      'embedded models',
      () => {
        const { header, results } = evaluation()
        return reportOf({ ...header, arms: header.arms.map((arm) => ({ ...arm, model: 'embedded:traps' })) }, results)
      },
      (text) => text,
      'Embedded models solve and fail on purpose, so their figures are no evidence: off (embedded:traps)',
    ],
    [
      'an embedded model that answers under another name',
      () => {
        const { header, results } = evaluation()
        return reportOf(
          header,
          results.map((result) => ({ ...result, models: ['embedded:scripted'] })),
        )
      },
      (text) => text,
      'Embedded models',
    ],
    [
      'tasks that pass without work',
      () => {
        const { header, results } = evaluation()
        return reportOf(
          {
            ...header,
            tasks: header.tasks.map((task, index) =>
              index === 4 ? { ...task, passesWithoutWork: true as const } : task,
            ),
          },
          results,
        )
      },
      (text) => text,
      'are no evidence: task-5.',
    ],
    [
      'a replay whose requests were not as recorded',
      () => {
        const { header, results } = evaluation()
        return reportOf(
          header,
          results.map((result, index) => (index === 7 ? { ...result, differences: 1 } : result)),
        )
      },
      (text) => text,
      'requests were not as recorded',
    ],
    [
      'nothing',
      () => reportOf({ ...evaluation().header, tasks: [] }, []),
      (text) => text,
      'The evaluation has no trials.',
    ],
  ]
  for (const [title, report, change, words] of refusals)
    it(`refuses ${title}, and says why`, () => {
      const text = change(evidence())
      assert.throws(() => publishRow(report(), text), withCode('EVALUATION_UNPUBLISHED', words))
    })
})

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { marked } from 'marked'
import { textWidth } from '../../charts/src/textWidth.ts'
import { coloursFor } from '../../cli/src/terminal/colours.ts'
import { jsonReport } from '../src/report/jsonReport.ts'
import { junitReport } from '../src/report/junitReport.ts'
import { markdownReport } from '../src/report/markdownReport.ts'
import type { Report } from '../src/report/report.ts'
import { reportOf } from '../src/report/reportOf.ts'
import { terminalReport } from '../src/report/terminalReport.ts'
import { writeReport } from '../src/report/writeReport.ts'
import type { TrialResult } from '../src/results.ts'
import { someRuns } from '../../../test/support/seeds.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { madeUp, madeUpHeader, madeUpResult } from './madeUp.ts'

const arms = ['off', 'stall+revert', 'model=anthropic:claude-with-a-rather-long-name-4-5-20250929', 'fold+recall']

function example(): Report {
  const { header, results } = madeUp({
    tasks: 50,
    trials: 3,
    arms,
    seed: 4,
    skill: (task, arm) => ({ passes: (task % 4) / 4 + (arm === 1 ? 0.25 : 0), costs: arm === 3 ? 0.01 : 0.02 }),
  })
  return reportOf({ ...header, judge: 'lab:judge' }, results.slice(0, -2), { stopped: { why: 'aborted' } })
}

/** A report whose every name and text is this one. */
function named(text: string): Report {
  const header = madeUpHeader(2, ['off', 'on'], 2)
  const results = ['task-1', 'task-2'].flatMap((task) =>
    ['off', 'on'].flatMap((arm) => {
      const failed: Partial<TrialResult> = {
        outcome: 'failed',
        answer: text,
        scores: [{ name: text, value: 0, passed: false, required: true, weight: 1, reason: text }],
      }
      const broken: Partial<TrialResult> = { outcome: 'error', error: { code: 'MODEL_NETWORK', message: text } }
      return [madeUpResult(task, arm, 0, failed), madeUpResult(task, arm, 1, broken)]
    }),
  )
  const rename = (name: string): string => (name === 'task-1' || name === 'on' ? `${text}.` : name)
  return reportOf(
    {
      ...header,
      suite: { ...header.suite, name: text },
      tasks: header.tasks.map(({ id }) => ({ id: rename(id), tags: [text] })),
      arms: header.arms.map((arm) => ({ ...arm, name: rename(arm.name), model: text })),
    },
    results.map((result) => ({ ...result, task: rename(result.task), arm: rename(result.arm) })),
  )
}

const nasty = fc.string({
  unit: fc.constantFrom(...Array.from('a|`<>&"\'\\*_[]#~ \n\t\r\u001B\u0000\u202E\uFFFE\uD800é漢🙂]]>')),
  minLength: 1,
  maxLength: 30,
})

describe('a report on a terminal', (it) => {
  it('fits into 80 columns, or as many as there are from 60 on, coloured or not', () => {
    const report = example()
    const style = coloursFor({ isTTY: true }, { FORCE_COLOR: '1' })
    for (const width of [60, 80, 100, 140])
      for (const line of terminalReport(report, { width, style }).split('\n'))
        assert.ok(textWidth(line) <= width, `${width}: ${line}`)
  })

  it('says every arm with its interval, every verdict, and what to know', () => {
    const text = terminalReport(example())
    for (const said of [
      'Suite made-up',
      '50 tasks × 4 arms × 3 trials, seed 4',
      'only this arm passed',
      'passes more',
      'costs less',
      'no difference in passes shown',
      'no difference in cost shown',
      '2 of 600 trials are missing: it was aborted.',
      '10 more tasks, in which the arms differ less',
      'Judge lab:judge: whether it agrees with the other checks is not known',
    ])
      assert.ok(text.replaceAll(/\s+/g, ' ').includes(said), said)
    assert.match(text, /pass@1 +\d+ % \(\d+ % to \d+ %\)/)
    assert.match(text, /cached +66 % \(same in all\)/)
  })

  it('has no control character of a name, and no empty evaluation stops it', { timeoutMs: 30_000 }, () => {
    const property = fc.property(nasty, (text) => {
      const shown = terminalReport(named(text))
      // oxlint-disable-next-line no-control-regex -- none may be there
      assert.not.match(shown, /[\u0000-\u0009\u000B-\u001F\u202E]/)
      for (const line of shown.split('\n')) assert.ok(textWidth(line) <= 80, line)
    })
    fc.assert(property, { numRuns: someRuns(200), seed: 64 })
    assert.match(terminalReport(reportOf(madeUpHeader(0, ['off'], 1), [])), /0 tasks × 1 arm × 1 trial/)
  })
})

interface JunitCase {
  readonly '@name': string
  readonly failure?: { readonly '@message': string; readonly '#text': string }
  readonly error?: { readonly '@message': string; readonly '@type': string }
  readonly skipped?: unknown
}

interface JunitSuite {
  readonly '@name': string
  readonly '@tests': string
  readonly '@failures': string
  readonly '@errors': string
  readonly '@skipped': string
  readonly testcase: readonly JunitCase[]
}

function parsed(xml: string): {
  readonly suites: readonly JunitSuite[]
  readonly counts: Readonly<Record<string, string>>
} {
  assert.is(XMLValidator.validate(xml), true)
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseAttributeValue: false,
    parseTagValue: false,
    trimValues: false,
    processEntities: true,
    htmlEntities: true,
    isArray: (name) => name === 'testsuite' || name === 'testcase',
  })
  const { testsuites } = parser.parse(xml) as {
    readonly testsuites: Readonly<Record<string, string>> & { readonly testsuite: readonly JunitSuite[] }
  }
  return { suites: testsuites.testsuite, counts: testsuites }
}

describe('a report for JUnit', (it) => {
  it('has a suite for each arm and a case for each trial that was planned, and counts them', () => {
    const report = example()
    const { suites, counts } = parsed(junitReport(report))
    assert.equal(
      suites.map((suite) => suite['@name']),
      arms,
    )
    const { planned, failed, errors, missing } = report.progress
    assert.equal(
      [counts['@tests'], counts['@failures'], counts['@errors'], counts['@skipped']],
      [planned, failed, errors, missing].map(String),
    )
    for (const [index, suite] of suites.entries()) {
      const { progress } = report.arms[index]!
      const of = (key: 'failure' | 'error' | 'skipped'): string =>
        String(suite.testcase.filter((one) => one[key] !== undefined).length)
      assert.is(suite.testcase.length, progress.planned)
      assert.equal(
        [suite['@tests'], suite['@failures'], suite['@errors'], suite['@skipped']],
        [String(progress.planned), of('failure'), of('error'), of('skipped')],
      )
      assert.is(of('failure'), String(progress.failed))
    }
  })

  it(
    'is well-formed whatever is said, with the words as they were but for what XML cannot hold',
    { timeoutMs: 30_000 },
    () => {
      const property = fc.property(nasty, (text) => {
        const [suite] = parsed(junitReport(named(text))).suites
        const [failed, broken] = suite!.testcase
        // oxlint-disable-next-line no-control-regex -- XML holds none of these
        const held = text.toWellFormed().replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u202E\uFFFE\uFFFF]/g, '')
        assert.is(broken!.error!['@message'], held)
        assert.is(broken!.error!['@type'], 'MODEL_NETWORK')
        assert.ok(failed!.failure !== undefined)
      })
      fc.assert(property, { numRuns: someRuns(300), seed: 65 })
    },
  )
})

describe('a report in Markdown', (it) => {
  it('has tables whose rows have as many cells as their header, whatever is said', { timeoutMs: 30_000 }, () => {
    const property = fc.property(nasty, (text) => {
      const tables = marked.lexer(markdownReport(named(text))).filter((token) => token.type === 'table')
      assert.is(tables.length, 3)
      for (const line of markdownReport(named(text))
        .split('\n')
        .filter((each) => each.startsWith('|')))
        assert.ok([2, 4, 3].includes(line.replaceAll(/\\./g, '').split('|').length - 2), line)
    })
    fc.assert(property, { numRuns: someRuns(200), seed: 66 })
  })

  it('has every figure with its interval, and says where there is none and why', () => {
    const text = markdownReport(example())
    assert.match(text, /\| pass@1 \|( \d+ % \(\d+ % to \d+ %\) \|){4}/)
    assert.match(text, /\| pass\^3 \|/)
    assert.match(text, /0 in every trial: recalls, .*prefix breaks/)
    assert.match(text, /- input from the cache, .*: the same in every task/)
    assert.match(text, /## Against off/)
  })
})

describe('a report as JSON', (it) => {
  it('is the report, and ends with a line break', () => {
    const report = example()
    assert.equal(JSON.parse(jsonReport(report)), report)
    assert.ok(jsonReport(report).endsWith('}\n'))
  })
})

describe('writeReport', (it) => {
  it('writes every form, and has sessions made of what began', async ({ cleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'report-'))
    cleanup(() => rm(folder, { recursive: true }))
    const report = reportOf(madeUpHeader(1, ['off'], 2), [
      madeUpResult('task-1', 'off', 0),
      madeUpResult('task-1', 'off', 1, { outcome: 'error', metrics: null }),
    ])
    const asked: unknown[] = []
    const paths = await writeReport(folder, report, {
      sessions: (place, agentIds) => {
        asked.push([place, agentIds])
        return Promise.resolve({ page: 'session.html', agentIds })
      },
    })
    assert.equal(
      paths,
      ['report.json', 'report.md', 'report.junit.xml', 'report/index.html'].map((name) => join(folder, name)),
    )
    assert.equal(asked, [[join(folder, 'report'), ['task-1.off.0']]])
    assert.is(await readFile(paths[0]!, 'utf8'), jsonReport(report))
    assert.match(await readFile(paths[3]!, 'utf8'), /"agentId":"task-1\.off\.0"/)
    // Without sessions there is nothing to link to.
    await writeReport(folder, report)
    assert.not.match(await readFile(paths[3]!, 'utf8'), /"agentId"/)
  })
})

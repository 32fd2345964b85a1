import { escapeXml } from '../../../charts/src/escapeText.ts'
import type { ArmReport, Report, ReportedTrial } from './report.ts'

/**
 * Returns a report in JUnit format, for build servers: a suite for each arm and a case for each trial. A case has `failure` if its checks did not
 * pass, and `error` if the agent is not to blame. Missing trials are skipped cases. Pure.
 */
export function junitReport(report: Report): string {
  const { planned, failed, errors, missing } = report.progress
  const suites = report.arms.map((arm) => suiteOf(report, arm))
  const counts = { name: report.suite.name, tests: planned, failures: failed, errors, skipped: missing }
  const body = [open('testsuites', counts), ...suites, '</testsuites>'].join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>\n${body}\n`
}

type Attributes = Readonly<Record<string, string | number>>

const tag = (name: string, attributes: Attributes, end: string): string =>
  `<${[name, ...Object.entries(attributes).map(([key, value]) => `${key}="${attribute(String(value))}"`)].join(' ')}${end}`

const open = (name: string, attributes: Attributes): string => tag(name, attributes, '>')

/** Escapes a text for an attribute, in which line breaks and tabs would otherwise become spaces. */
const attribute = (text: string): string => escapeXml(text).replace(/[\t\n\r]/g, (unit) => `&#${unit.charCodeAt(0)};`)

const seconds = (ms: number): string => (ms / 1000).toFixed(3)

function suiteOf(report: Report, { name, progress }: ArmReport): string {
  const { planned, failed, errors, missing } = progress
  const results = report.results.filter(({ arm }) => arm === name)
  const time = seconds(results.reduce((sum, { ms }) => sum + ms, 0))
  const timestamp = new Date(report.startedAt).toISOString().slice(0, 19)
  const there = new Map(results.map((result) => [`${result.trial} ${result.task}`, result]))
  const cases = report.tasks.flatMap(({ id }) =>
    Array.from({ length: report.trials }, (_, trial) =>
      caseOf(report, { name, task: id, trial }, there.get(`${trial} ${id}`)),
    ),
  )
  const attributes = { name, tests: planned, failures: failed, errors, skipped: missing, time, timestamp }
  return [`  ${open('testsuite', attributes)}`, ...cases, '  </testsuite>'].join('\n')
}

interface Place {
  readonly name: string
  readonly task: string
  readonly trial: number
}

function caseOf({ suite }: Report, { name, task, trial }: Place, result: ReportedTrial | undefined): string {
  const attributes = { classname: `${suite.name}.${name}`, name: `${task} #${trial + 1}` }
  if (result === undefined)
    return `    ${open('testcase', attributes)}${tag('skipped', { message: 'not run' }, '/>')}</testcase>`
  const time = seconds(result.ms)
  const wrong = wrongIn(result)
  return wrong === ''
    ? `    ${tag('testcase', { ...attributes, time }, '/>')}`
    : `    ${open('testcase', { ...attributes, time })}${wrong}</testcase>`
}

function wrongIn({ outcome, error, scores, stopReason, agentId }: ReportedTrial): string {
  if (outcome === 'passed') return ''
  const failed = scores.filter(({ passed, required }) => required && !passed)
  const lines = [
    ...failed.map(({ name, value, reason }) => `${name}: ${value}${reason === undefined ? '' : `\n${reason}`}`),
    ...(error === null ? [] : [`${error.code}: ${error.message}`]),
    ...(stopReason === null || stopReason === 'stop' ? [] : [`the last run ended with ${stopReason}`]),
    `agent ${agentId}`,
  ]
  const body = escapeXml(lines.join('\n'))
  if (outcome === 'error')
    return `${open('error', { type: error?.code ?? 'error', message: error?.message ?? 'The trial could not be carried out.' })}${body}</error>`
  const message =
    failed.length === 0 ? (error?.message ?? 'The checks did not pass.') : failed.map(({ name }) => name).join(', ')
  return `${open('failure', { type: failed.length === 0 ? 'run' : 'check', message })}${body}</failure>`
}

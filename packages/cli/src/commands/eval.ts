import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { runEvaluation, type Evaluated } from '../../../evaluation/src/evaluation.ts'
import { measureAgain } from '../../../evaluation/src/measureAgain.ts'
import { jsonReport } from '../../../evaluation/src/report/jsonReport.ts'
import { publishRow } from '../../../evaluation/src/report/publishRow.ts'
import type { Report } from '../../../evaluation/src/report/report.ts'
import { reportOf } from '../../../evaluation/src/report/reportOf.ts'
import { terminalReport } from '../../../evaluation/src/report/terminalReport.ts'
import { writeEvaluation } from '../../../evaluation/src/writeEvaluation.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { evalPlan } from '../evaluation/evalPlan.ts'
import { ProgressLine } from '../evaluation/progressLine.ts'
import { resumeLine } from '../evaluation/resumeLine.ts'
import { columnsOf, wantsJson } from '../sessions/sessionLogs.ts'
import { doubleStop, onStopSignal } from '../signals.ts'
import { coloursFor } from '../terminal/colours.ts'

/** `escapement eval <suite>`: tries an agent on the tasks of a suite. `eval report <folder>`: reports the results in a folder. */
export const evalCommand: CommandRun = async (invocation, host) => {
  const [, folder] = /^report\s+(.+)$/s.exec(invocation.task ?? '') ?? []
  if (folder !== undefined) return reportAgain(resolve(host.cwd(), folder), invocation, host)
  const [, operands] = /^import(?:\s+(.*))?$/s.exec(invocation.task ?? '') ?? [undefined, undefined]
  if (invocation.task === 'import' || operands !== undefined) {
    const { importSuite } = await import('../evaluation/importSuite.ts')
    return importSuite(operands ?? '', invocation, host)
  }
  const stop = new AbortController()
  const isDouble = doubleStop(systemClock)
  const ignore = onStopSignal(host, () => {
    if (isDouble()) host.exit(exitCodes.interrupted)
    stop.abort()
  })
  try {
    const { plan, remove } = await evalPlan(invocation, host, stop.signal)
    const progress = new ProgressLine(host.stderr)
    try {
      const evaluated = await runEvaluation({ ...plan, onProgress: (state) => progress.see(state) }).finally(() =>
        progress.close(),
      )
      if (evaluated.isUnbegun === true) {
        host.stderr.write('Stopped: by Ctrl-C\nNo trial has run yet: run the same command again.\n')
        return exitCodes.interrupted
      }
      await show(reportOf(evaluated.header, evaluated.results, evaluated), plan.folder, invocation, host)
      return conclude(evaluated, plan.folder, invocation, host)
    } finally {
      await remove()
    }
  } finally {
    ignore()
  }
}

async function reportAgain(folder: string, invocation: Invocation, host: CliHost): Promise<number> {
  const { header, trials, judge } = await measureAgain(folder)
  await show(reportOf(header, trials.values(), judge === undefined ? {} : { judged: judge }), folder, invocation, host)
  return exitCodes.done
}

/** Writes the report into the folder, and prints it. */
async function show(report: Report, folder: string, invocation: Invocation, host: CliHost): Promise<void> {
  await writeEvaluation(folder, report)
  if (invocation.publish !== undefined) publish(report, resolve(host.cwd(), invocation.publish))
  if (wantsJson(invocation, host)) return void host.stdout.write(jsonReport(report))
  const width = columnsOf(host)
  const style = coloursFor(host.stdout, host.env, host.theme)
  host.stdout.write(`${terminalReport(report, { style, width: width === Infinity ? 100 : width })}\n`)
}

/** Writes the report into a page. @throws RuntimeError `EVALUATION_UNPUBLISHED`, `INVALID_OPTION` */
function publish(report: Report, page: string): void {
  let text: string
  try {
    text = readFileSync(page, 'utf8')
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `--publish: ${page} could not be read: ${messageOf(thrown)}.`)
  }
  writeFileSync(page, publishRow(report, text))
}

/** Prints the location of the results and, if the evaluation ended early, the command that continues it. */
function conclude({ stopped, results }: Evaluated, folder: string, invocation: Invocation, host: CliHost): number {
  host.stderr.write(`Results are in ${folder}\n`)
  const errors = results.filter(({ outcome }) => outcome === 'error').length
  if (stopped === undefined && errors === 0) return exitCodes.done
  const why = stopped === undefined ? `${errors} of the trials ended as an error` : reasons[stopped.why]
  const said = stopped?.message === undefined ? '' : `: ${stopped.message}`
  const more = stopped?.why === 'budget' ? ' --budget <more>' : ''
  host.stderr.write(`Stopped: ${why}${said}\nContinue with: ${resumeLine(invocation, folder)}${more}\n`)
  return stopped?.why === 'aborted' ? exitCodes.interrupted : exitCodes.failed
}

const reasons = {
  budget: 'the budget is spent',
  auth: 'the model cannot be asked',
  aborted: 'by Ctrl-C',
  changed: 'the suite has changed',
} as const

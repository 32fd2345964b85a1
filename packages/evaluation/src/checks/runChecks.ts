import { openRegularFile } from '../../../tools/src/files/openRegularFile.ts'
import { openWorkspace } from '../../../tools/src/files/workspacePath.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { linearPattern } from '../../../schemas/src/linearPattern.ts'
import { schemaCheck } from '../../../schemas/src/schemaCheck.ts'
import type { Score } from '../results.ts'
import type { ScoredTrial, Scorer, ScorerAnswer } from '../suite/defineSuite.ts'
import {
  kindOf,
  type AnswerCheck,
  type Check,
  type CheckKind,
  type CommandCheck,
  type FileCheck,
  type JsonCheck,
  type JudgeCheck,
  type ScorerCheck,
} from '../suite/task.ts'
import { found, scoreOf, type Found } from './found.ts'
import { JudgeFailure } from './judge.ts'

/** Ports and data that checks need. */
export interface CheckPorts {
  readonly clock: Clock
  readonly trial: Omit<ScoredTrial, 'options'>
  readonly scorers: Readonly<Record<string, Scorer>>
  /** Asks the judge; `undefined`: judge checks are left out. */
  readonly judge?: ((check: JudgeCheck, trial: Omit<ScoredTrial, 'options'>) => Promise<Found>) | undefined
}

/** Default time limit of a check's command, in milliseconds. */
const commandTimeoutMs = 300_000
/** Time limit of a scorer, in milliseconds. */
const scorerTimeoutMs = 60_000
/** Maximum size of a file that a check reads, in bytes. */
const mostBytes = 16 * 1024 * 1024

/**
 * Makes all checks of a trial, one after the other. An error in a check counts as its failure, with the reason.
 *
 * @throws JudgeFailure if the judge reached no verdict: the outcome of the trial is then unknown
 */
export async function runChecks(checks: readonly Check[], ports: CheckPorts): Promise<Score[]> {
  const scores: Score[] = []
  for (const check of checks) scores.push(scoreOf(check, await runCheck(check, ports)))
  return scores
}

async function runCheck(check: Check, ports: CheckPorts): Promise<Found> {
  if (ports.trial.signal.aborted) return found(false, 'aborted')
  const run = kinds[kindOf(check)!] as (check: Check, ports: CheckPorts) => Found | Promise<Found>
  try {
    return await run(check, ports)
  } catch (thrown) {
    if (thrown instanceof JudgeFailure) throw thrown
    return found(false, messageOf(thrown))
  }
}

const kinds = {
  async command({ command, timeoutMs = commandTimeoutMs }: CommandCheck, { trial }) {
    const { code, output, timedOut } = await trial.run(command, { timeoutMs })
    if (code === 0) return found(true)
    const how = timedOut ? `it was killed after ${timeoutMs} ms` : code === null ? 'it was killed' : `exit code ${code}`
    return found(false, `${output.trimEnd()}\n[${how}]`.trimStart())
  },
  answer({ answer: wanted }: AnswerCheck, { trial: { answer } }) {
    const passed = typeof wanted === 'string' ? answer.includes(wanted) : linearPattern(wanted.matches).test(answer)
    return found(passed, passed ? undefined : `the answer was: ${answer || '(nothing)'}`)
  },
  async file({ file, equals, contains, matches }: FileCheck, { trial: { dir } }) {
    const text = await textOf(dir, file)
    if (equals !== undefined && text !== equals) return found(false, `it holds: ${text}`)
    if (contains !== undefined && !text.includes(contains)) return found(false, `it does not have that: ${text}`)
    if (matches !== undefined && !linearPattern(matches).test(text)) return found(false, `it does not match: ${text}`)
    return found(true)
  },
  async json({ json, file }: JsonCheck, { trial: { dir, answer } }) {
    const text = file === undefined ? answer : await textOf(dir, file)
    let value: unknown
    try {
      value = JSON.parse(withoutFence(text))
    } catch (thrown) {
      return found(false, `it is not JSON: ${messageOf(thrown)}: ${text || '(nothing)'}`)
    }
    const wrong = schemaCheck(json).wrongIn(value)
    return found(wrong === undefined, wrong)
  },
  judge(check: JudgeCheck, { trial, judge }) {
    return judge === undefined ? found(false, 'the judge was not asked') : judge(check, trial)
  },
  async scorer(check: ScorerCheck, { trial, scorers, clock }) {
    const score = scorers[check.scorer]
    if (score === undefined) return found(false, `there is no scorer "${check.scorer}"`)
    return foundBy(await inTime(clock, scorerTimeoutMs, async () => score({ ...trial, options: check })))
  },
} satisfies { [K in CheckKind]: (check: never, ports: CheckPorts) => Found | Promise<Found> }

/** Returns JSON without the fence that a model put around it. */
function withoutFence(text: string): string {
  const all = text.trim()
  const [first, last] = [all.indexOf('\n'), all.lastIndexOf('\n')]
  const isFenced = /^```(?:json)?\s*$/.test(all.slice(0, first)) && all.slice(last).trim() === '```'
  return isFenced ? all.slice(first, last) : text
}

async function textOf(dir: string, path: string): Promise<string> {
  const { handle, size } = await openRegularFile(openWorkspace(dir), path)
  try {
    if (size > mostBytes) throw new Error(`${path} has ${size} bytes, and a check reads ${mostBytes} at most`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** Resolves with the result of some work; rejects if it takes longer than `ms`. */
export async function inTime<T>(clock: Clock, ms: number, work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => late.reject(new Error(`it took longer than ${ms} ms`)))
  try {
    return await Promise.race([work(), late.promise])
  } finally {
    cancel()
  }
}

/** Returns the finding of a scorer. An invalid answer counts as failed, with the reason. */
export function foundBy(answer: ScorerAnswer): Found {
  if (typeof answer === 'boolean') return found(answer)
  const { value, passed, reason } = typeof answer === 'number' ? { value: answer } : (answer ?? {})
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    return found(
      false,
      `a scorer gives true, false, a number from 0 to 1, or { value, passed, reason }; it gave ${seen(answer)}`,
    )
  return { value, passed: passed ?? value >= 0.5, reason }
}

function seen(answer: unknown): string {
  try {
    return JSON.stringify(answer) ?? String(answer)
  } catch {
    return typeof answer
  }
}

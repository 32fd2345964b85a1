import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { armOf } from '../../src/arms.ts'
import { runEvaluation, type Evaluated } from '../../src/evaluation.ts'
import type { Report } from '../../src/report/report.ts'
import { reportOf } from '../../src/report/reportOf.ts'
import { readSuite } from '../../src/suite/readSuite.ts'
import type { Suite } from '../../src/suite/suite.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { assert, type CaseContext } from '../../../../test/support/suite.ts'

export const suitesFolder = join(import.meta.dirname, '..', '..', '..', '..', 'suites')

/** The suites of the repository. */
export const suiteNames = ['stall-traps', 'retention', 'long-support', 'chained-exercises'] as const

export const suiteOf = (name: string): Promise<Suite> => readSuite(join(suitesFolder, name), '/')

/** A folder that is removed after the case. */
export async function scratchFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-suites-'))
  cleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export interface SuiteRun {
  readonly arms: readonly string[]
  readonly trials: number
  /** Default: all. */
  readonly tasks?: readonly string[]
  /** Default: the embedded one of the suite. */
  readonly model?: Model
  /** Default 1. */
  readonly seed?: number
  readonly concurrency?: number
  readonly record?: boolean
  /** The folder of an evaluation that was recorded. */
  readonly replay?: string
}

/** Evaluates a suite with made-up prices, as the embedded models have none. */
export async function evaluated(
  context: Pick<CaseContext, 'cleanup' | 'signal'>,
  suite: Suite,
  { arms, trials, tasks, model, seed = 1, concurrency = 4, record, replay }: SuiteRun,
): Promise<Evaluated & { readonly report: Report; readonly folder: string }> {
  const { definition } = suite
  const folder = await scratchFolder(context)
  const chosen = tasks === undefined ? suite.tasks : suite.tasks.filter(({ id }) => tasks.includes(id))
  const ids = ['traps', 'keeper', 'support', 'exercises'].map((name) => `embedded:${name}`)
  const made = await runEvaluation({
    suite: { ...suite, tasks: chosen },
    source: definition.agent!,
    arms: arms.map((name) => armOf(name, definition.arms)),
    trials,
    seed,
    concurrency,
    folder,
    clock: systemClock,
    signal: context.signal,
    model: model ?? 'embedded',
    record,
    replay,
    prices: Object.fromEntries(ids.map((id) => [id, { input: 3, output: 15 }])),
  })
  for (const { outcome, error, key } of made.results) if (outcome === 'error') assert.is(error?.message, undefined, key)
  return { ...made, folder, report: reportOf(made.header, made.results, {}) }
}

/** The share of the first trials that passed, by arm. */
export const passAt1 = ({ arms }: Report): Readonly<Record<string, number>> =>
  Object.fromEntries(arms.map(({ name, passAt1: figure }) => [name, Math.round(100 * (figure.value ?? NaN)) / 100]))

/** Files as a benchmark has them, in their format and made up. */
export async function fetched(context: CaseContext, files: Readonly<Record<string, string | object>>): Promise<string> {
  const folder = await scratchFolder(context)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { pricingSchema, type PricesByModel } from '../../actors/pricing.ts'
import { armOf, checkedArms, unchangedArm, type Arm } from '../../evaluation/arms.ts'
import type { EvaluationPlan } from '../../evaluation/evaluation.ts'
import { readResults } from '../../evaluation/folder/resultsFile.ts'
import type { EvaluationHeader } from '../../evaluation/results.ts'
import { readSuite } from '../../evaluation/suite/readSuite.ts'
import type { Suite } from '../../evaluation/suite/suite.ts'
import { systemClock } from '../../protocol/clock.ts'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { Model } from '../../protocol/model.ts'
import { wrongInFile } from '../../userFiles/wrongInFile.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { loadConfig, type LoadedConfig } from '../config/loadConfig.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { recordFolder } from '../recordFolder.ts'
import { evalSource } from './evalSource.ts'

const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', what)

/**
 * What a command line wants evaluated, and how.
 *
 * @throws RuntimeError `INVALID_OPTION`, `MODEL_UNAVAILABLE`
 */
export async function evalPlan(invocation: Invocation, host: CliHost, signal: AbortSignal): Promise<EvaluationPlan> {
  const { task: path = '', out, resume } = invocation
  if (out !== undefined && resume !== undefined) throw wrong('--resume says which folder it is: leave --out out.')
  const suite = await readSuite(path, host.cwd())
  const config = await loadConfig(invocation, host)
  const header = resume === undefined ? undefined : (await readResults(resolve(host.cwd(), resume))).header
  const trials = countOf('--trials', invocation.trials) ?? header?.trials ?? 1
  const seed = seedIn(invocation.seed) ?? header?.seed ?? 1
  const { source } = await evalSource(invocation, suite, config, host)
  const arms = armsOf(invocation.arm, suite, header)
  const named = (name: string): Promise<Model> =>
    chooseModel({ asked: name, env: host.env, dir: host.cwd(), wordDelayMs: 0, config }).then(({ model }) => model)
  const budgetUsd = amountOf('--budget', invocation.budget)
  return {
    suite,
    source,
    arms,
    trials,
    seed,
    concurrency: countOf('--concurrency', invocation.concurrency) ?? 4,
    folder: resolve(host.cwd(), resume ?? out ?? newFolder(suite, host)),
    clock: systemClock,
    signal,
    model: await modelFor(invocation, { suite, config, host, isFixed: typeof source !== 'function' }),
    named,
    judge: invocation.judge,
    keep: invocation.keep,
    ...(invocation.prices === undefined ? {} : { prices: pricesIn(resolve(host.cwd(), invocation.prices)) }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(config?.modelLimits === undefined ? {} : { modelLimits: config.modelLimits }),
  }
}

/** Where results go by default, with what keeps them out of version control. */
function newFolder({ name }: Suite, host: CliHost): string {
  const logs = recordFolder(resolve(host.cwd(), '.escapement'))
  const time = new Date(systemClock.now()).toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15)
  return join(logs, 'evals', `${basename(name)}-${time}`)
}

const armsOf = (names: readonly string[], { definition }: Suite, header: EvaluationHeader | undefined): readonly Arm[] => {
  const asked = names.length > 0 ? names : (header?.arms.map(({ name }) => name) ?? [unchangedArm])
  return checkedArms(asked.map((name) => armOf(name, definition.arms)))
}

interface ModelWish {
  readonly suite: Suite
  readonly config: LoadedConfig | undefined
  readonly host: CliHost
  /** The agent has a model of its own. */
  readonly isFixed: boolean
}

/** The model that is asked for, else, where the agent has none, the one that `run` would take; embedded ones of the suite come before the built-in one. */
async function modelFor({ model }: Invocation, { suite, config, host, isFixed }: ModelWish): Promise<EvaluationPlan['model']> {
  const asked = model ?? (host.env['ESCAPEMENT_MODEL'] || undefined)
  const own = suite.definition.models ?? {}
  if (asked !== undefined && Object.hasOwn(own, asked)) return asked
  if (asked === undefined && isFixed) return undefined
  const choice = await chooseModel({ asked, env: host.env, dir: host.cwd(), wordDelayMs: 0, config })
  if (choice.isEmbedded && Object.hasOwn(own, 'embedded')) {
    if (asked === undefined) host.stderr.write(`Using the embedded model of the suite, as no key of a provider is set.\n`)
    return 'embedded'
  }
  if (choice.notice !== undefined) host.stderr.write(`${choice.notice}\n`)
  return choice.model
}

function countOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw wrong(`${option} takes a whole number from 1 on; it got "${text}".`)
}

function seedIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw wrong(`--seed takes a whole number of at most nine digits; it got "${text}".`)
}

function amountOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const amount = Number(text)
  if (amount > 0 && amount < Infinity) return amount
  throw wrong(`${option} takes an amount above 0; it got "${text}".`)
}

/** Prices of models by id, in US dollars per million tokens. */
function pricesIn(file: string): PricesByModel {
  let source: string
  let value: unknown
  try {
    source = readFileSync(file, 'utf8')
    value = JSON.parse(source)
  } catch (thrown) {
    throw wrong(`${file} could not be read: ${messageOf(thrown)}.`)
  }
  const checked = z.record(z.string().min(1), pricingSchema()).safeParse(value)
  if (!checked.success) throw wrong(wrongInFile(file, source, checked.error))
  return checked.data as PricesByModel
}

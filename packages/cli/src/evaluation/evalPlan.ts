import { tell } from '../terminal/wordWrap.ts'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { pricingSchema, type PricesByModel } from '../../../../src/actors/turn/pricing.ts'
import { armOf, checkedArms, unchangedArm, type Arm } from '../../../evaluation/src/arms.ts'
import type { AgentSource } from '../../../evaluation/src/suite/defineSuite.ts'
import type { EvaluationPlan } from '../../../evaluation/src/evaluationPlan.ts'
import { readResults } from '../../../evaluation/src/folder/resultsFile.ts'
import type { EvaluationHeader } from '../../../evaluation/src/results.ts'
import { readSuite } from '../../../evaluation/src/suite/readSuite.ts'
import type { Suite } from '../../../evaluation/src/suite/suite.ts'
import { imageName } from '../../../evaluation/src/suite/task.ts'
import { recordedModel } from '../../../evaluation/src/trials/recordings.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { wrongInFile } from '../../../tools/src/userFiles/wrongInFile.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { loadConfig } from '../config/loadConfig.ts'
import type { LoadedConfig } from '../config/readConfig.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { recordFolder } from '../sessions/recordFolder.ts'
import { commitAgent } from './commitAgent.ts'
import { evalSource, type EvalSource } from './evalSource.ts'
import { fileURLToPath } from 'node:url'
import { codeFile } from '../../../charts/src/packageFile.ts'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Returns the folder of this package's suites: built ones in `dist`, or their sources in the repository. */
function shippedFolder(): string | undefined {
  const url = codeFile('suites', 'suites')
  const path = url?.protocol === 'file:' ? fileURLToPath(url) : undefined
  return path !== undefined && isFolder(path) ? path : undefined
}

/** Returns the names of the suites that come with this package. */
function shippedSuites(): readonly string[] {
  const folder = shippedFolder()
  if (folder === undefined) return []
  return readdirSync(folder).filter((name) => ['suite.ts', 'suite.js'].some((file) => isFile(join(folder, name, file))))
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Returns the folder of a suite: the given one, or else, for a plain word, the package's suite of that name. */
function suiteFolder(path: string, cwd: string): string {
  if (/[/\\]|^\.+$/.test(path) || isFolder(resolve(cwd, path))) return path
  return shippedSuites().includes(path) ? join(shippedFolder()!, path) : path
}

const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', what)

/** The evaluation requested by a command line, and a function that removes its temporary files. */
export interface EvalWish {
  readonly plan: EvaluationPlan
  remove(): Promise<void>
}

/**
 * Reads the evaluation plan from a command line.
 *
 * @throws RuntimeError `INVALID_OPTION`, `MODEL_UNAVAILABLE`
 */
export async function evalPlan(invocation: Invocation, host: CliHost, signal: AbortSignal): Promise<EvalWish> {
  const { task: path = '', out, resume, replay, docker } = invocation
  if (out !== undefined && resume !== undefined) throw wrong('--resume says which folder it is: leave --out out.')
  const at = (place: string): string => resolve(host.cwd(), place)
  const suite = await readSuite(suiteFolder(path, host.cwd()), host.cwd(), shippedSuites())
  const config = await loadConfig(invocation, host)
  const header = await headerIn(resume ?? replay, at)
  const recorded = replay === undefined ? undefined : (await readResults(at(replay))).header
  const { source, origin } = await evalSource(invocation, suite, config, host)
  const compared = await comparedWith(invocation, origin, host)
  const named = async (name: string): Promise<Model> => {
    if (recorded !== undefined) return recordedModel(recordedId(recorded, name))
    return (await chooseModel({ asked: name, env: host.env, dir: host.cwd(), wordDelayMs: 0, config })).model
  }
  try {
    const budgetUsd = amountOf('--budget', invocation.budget)
    const plan: EvaluationPlan = {
      suite,
      source,
      arms: compared === undefined ? armsOf(invocation.arm, suite, header) : compared.arms(source),
      trials: countOf('--trials', invocation.trials) ?? header?.trials ?? 1,
      seed: seedIn(invocation.seed) ?? header?.seed ?? 1,
      concurrency: countOf('--concurrency', invocation.concurrency) ?? 4,
      folder: folderFor(resume ?? out, suite, host),
      clock: systemClock,
      signal,
      model:
        recorded === undefined
          ? await modelFor(invocation, { suite, config, host, isFixed: typeof source !== 'function' })
          : recordedModel(recordedId(recorded, undefined)),
      named,
      judge: invocation.judge ?? (recorded?.judge === undefined ? undefined : recordedModel(recorded.judge)),
      keep: invocation.keep,
      record: invocation.record,
      replay: replay === undefined ? undefined : at(replay),
      docker: imageIn(docker),
      ...(invocation.prices === undefined ? {} : { prices: pricesIn(at(invocation.prices)) }),
      ...(budgetUsd === undefined ? {} : { budgetUsd }),
      runtime: settingsOf(config).runtime,
    }
    return { plan, remove: async () => compared?.remove() }
  } catch (thrown) {
    await compared?.remove()
    throw thrown
  }
}

const headerIn = async (
  folder: string | undefined,
  at: (place: string) => string,
): Promise<EvaluationHeader | undefined> => (folder === undefined ? undefined : (await readResults(at(folder))).header)

/** Returns the model id recorded in the arms with this model name, or in those without one. */
function recordedId({ arms }: EvaluationHeader, name: string | undefined): string {
  const of =
    name === undefined
      ? (arm: string) => !/(^|\+)model=/.test(arm)
      : (arm: string) => arm.split('+').includes(`model=${name}`)
  return (arms.find((arm) => of(arm.name)) ?? arms[0]!).model
}

/** Returns the folder for results. It must not be inside the suite, which every result would then change. */
function folderFor(asked: string | undefined, suite: Suite, host: CliHost): string {
  const folder = asked === undefined ? newFolder(suite, host) : resolve(host.cwd(), asked)
  const way = relative(suite.folder!, folder)
  const isInside = way === '' || (!way.startsWith('..') && !isAbsolute(way))
  if (!isInside || way.split(sep)[0] === '.escapement') return folder
  throw wrong(`${folder} lies in the suite, which would change with every result: give another folder.`)
}

interface Compared {
  arms(after: AgentSource): readonly Arm[]
  remove(): Promise<void>
}

/** Returns the agent to compare with, if requested. */
async function comparedWith(
  { against, changed, arm }: Invocation,
  origin: EvalSource['origin'],
  host: CliHost,
): Promise<Compared | undefined> {
  if (against === undefined && !changed) return undefined
  const option = against === undefined ? '--changed' : '--against'
  if (against !== undefined && changed) throw wrong('--changed is --against HEAD: give one of them.')
  if (arm.length > 0) throw wrong(`${option} makes the arms "before" and "after": leave --arm out.`)
  if (origin === undefined)
    throw wrong(
      `${option} compares two versions of an agent, and this one is built in: name the module of yours with --definition.`,
    )
  const file = against === undefined ? undefined : resolve(host.cwd(), against)
  const arms = (before: AgentSource) => (after: AgentSource) => [
    { name: 'before', source: before },
    { name: 'after', source: after },
  ]
  if (file !== undefined && existsSync(file)) {
    const before = await origin.load(file)
    return { arms: arms(before), remove: () => Promise.resolve() }
  }
  const { source, notices, remove } = await commitAgent(against ?? 'HEAD', origin.file, (path) => origin.load(path))
  for (const notice of notices) tell(host.stderr, `${notice}\n`)
  return { arms: arms(source), remove }
}

/** Creates the default folder for results, kept out of version control. */
function newFolder({ name }: Suite, host: CliHost): string {
  const logs = recordFolder(resolve(host.cwd(), '.escapement'))
  const time = new Date(systemClock.now()).toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15)
  return join(logs, 'evals', `${basename(name)}-${time}`)
}

const armsOf = (
  names: readonly string[],
  { definition }: Suite,
  header: EvaluationHeader | undefined,
): readonly Arm[] => {
  const asked = names.length > 0 ? names : (header?.arms.map(({ name }) => name) ?? [unchangedArm])
  return checkedArms(asked.map((name) => armOf(name, definition.arms)))
}

interface ModelWish {
  readonly suite: Suite
  readonly config: LoadedConfig | undefined
  readonly host: CliHost
  /** True if the agent has its own model. */
  readonly isFixed: boolean
}

/**
 * Returns the requested model. Without one, and for an agent without a model, returns the model that `run` would use. Embedded models of the suite
 * take precedence over the built-in one.
 */
async function modelFor(
  { model }: Invocation,
  { suite, config, host, isFixed }: ModelWish,
): Promise<EvaluationPlan['model']> {
  const asked = model ?? (host.env['ESCAPEMENT_MODEL'] || undefined)
  const own = suite.definition.models ?? {}
  if (asked !== undefined && Object.hasOwn(own, asked)) return asked
  if (asked === undefined && isFixed) return undefined
  const choice = await chooseModel({ asked, env: host.env, dir: host.cwd(), wordDelayMs: 0, config })
  if (choice.isEmbedded && Object.hasOwn(own, 'embedded')) {
    if (asked === undefined)
      tell(host.stderr, 'Using the embedded model of the suite, as no key of a provider is set.\n')
    return 'embedded'
  }
  if (choice.notice !== undefined) tell(host.stderr, `${choice.notice} Agents with a model of their own keep it.\n`)
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

function imageIn(text: string | undefined): string | undefined {
  if (text === undefined || imageName.safeParse(text).success) return text
  throw wrong(`--docker takes the name of an image, such as node:24; it got "${text}".`)
}

function amountOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const amount = Number(text)
  if (amount > 0 && amount < Infinity) return amount
  throw wrong(`${option} takes an amount above 0; it got "${text}".`)
}

/** Reads prices of models by id, in US dollars per million tokens. */
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

import { type AgentDefinition, isAgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { modelOf } from '../../ai-sdk/src/adapters/modelOf.ts'
import type { PricesByModel } from '../../../src/actors/turn/pricing.ts'
import { givenOptions, redefine } from './redefine.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'
import { changesOf, type Arm } from './arms.ts'
import { givenBy } from './givenBy.ts'
import type { ArmInfo } from './results.ts'
import type { AgentSource, SuiteDefinition, TrialGiven, TrialPlace } from './suite/defineSuite.ts'

/** The model of a trial. */
export type ModelOfTrial = (place: TrialPlace) => Model

/** Returns a model by name: one of the suite's, else one from `named`. */
export async function modelNamed(
  name: string,
  { models = {} }: SuiteDefinition,
  named: ((name: string) => Promise<Model>) | undefined,
): Promise<ModelOfTrial> {
  if (Object.hasOwn(models, name)) {
    const what = `The model "${name}" of the suite`
    return (place) =>
      modelOf(
        givenBy(what, () => models[name]!(place)),
        what,
      )
  }
  if (named === undefined) {
    const there = Object.keys(models)
    const hint = there.length === 0 ? 'it has none' : `it has: ${there.join(', ')}`
    throw new RuntimeError('INVALID_OPTION', `The suite has no model "${name}"; ${hint}.`)
  }
  const model = await named(name)
  return () => model
}

/** An arm that is ready for trials. */
export interface ArmSetup {
  readonly info: ArmInfo
  /** Makes the agent of a trial. @throws any error of the source, as `INVALID_DEFINITION` if it is not a `RuntimeError`. */
  define(given: Omit<TrialGiven, 'model'>): AgentDefinition
}

interface SetupOptions {
  readonly source: AgentSource
  /** Model of all arms that name none; missing: the agent's own. */
  readonly model?: ModelOfTrial | undefined
  readonly prices: PricesByModel
  named(name: string): Promise<ModelOfTrial>
  /** Sample of the values given to a trial's agent, for testing the arm. */
  readonly sample: Omit<TrialGiven, 'model'>
}

/**
 * Prepares an arm, and tries it with the sample, so that its mistakes are reported before any trial runs.
 *
 * @throws RuntimeError `INVALID_DEFINITION`, `INVALID_OPTION`, `MODEL_UNAVAILABLE`
 */
export async function armSetup(arm: Arm, options: SetupOptions): Promise<ArmSetup> {
  const source = arm.source ?? options.source
  const own = arm.model === undefined ? undefined : await options.named(arm.model)
  const modelFor = own ?? options.model
  const define = (given: Omit<TrialGiven, 'model'>): AgentDefinition => {
    const model = modelFor?.(given)
    const base = madeBy(source, arm.name, given, model)
    const asked = givenOptions(base)
    // A function may heed the model that it is given, or have its own; what the arm names counts.
    const isAsked = model !== undefined && (own !== undefined || typeof source !== 'function')
    const answering = isAsked ? model : base.model
    const hasPrice = asked.pricing === undefined && Object.hasOwn(options.prices, answering.id)
    return redefine(base, {
      ...changesOf(arm, asked),
      ...(isAsked ? { model } : {}),
      ...(hasPrice ? { pricing: options.prices } : {}),
      captureTurnRequests: true,
    })
  }
  const { model, pricing, prices } = define(options.sample)
  return { info: { name: arm.name, model: model.id, isPriced: pricing !== null || prices !== null }, define }
}

function madeBy(
  source: AgentSource,
  arm: string,
  given: Omit<TrialGiven, 'model'>,
  model: Model | undefined,
): AgentDefinition {
  if (typeof source !== 'function') return source
  if (model === undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      `The arm "${arm}" has no model: name one, for all arms or with model=<name>.`,
    )
  const what = `The agent of "${given.task}"`
  const made: unknown = givenBy(what, () => source({ ...given, model }))
  if (isAgentDefinition(made)) return made
  throw new RuntimeError('INVALID_DEFINITION', `${what} is not what defineAgent returns.`)
}

import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'
import { armSetup, modelNamed, type ArmSetup, type ModelOfTrial } from './armSetups.ts'
import { defineJudge, type ReadyJudge } from './checks/judge.ts'
import type { EvaluationPlan } from './evaluationPlan.ts'
import { seedOf } from './plan.ts'
import { trialTools } from './trials/runTrial.ts'
import { freshFolder, tryRemoveFolder } from './trials/workspace.ts'

/** Prepares the arms of a plan, and tests each with the first task. `dir`: a folder for the test. @throws RuntimeError as `armSetup` */
export async function readyArms(plan: EvaluationPlan, dir: string): Promise<readonly ArmSetup[]> {
  const { suite, source, clock, seed } = plan
  const { definition } = suite
  const task = suite.tasks[0]!.id
  await freshFolder(dir)
  const named = (name: string): Promise<ModelOfTrial> => modelNamed(name, definition, plan.named)
  const sample = { dir, task, trial: 0, seed: seedOf(seed, task, 0), tools: trialTools(dir, { clock }) }
  const prices = { ...definition.prices, ...plan.prices }
  try {
    const model = await modelFor(plan.model, named)
    return await Promise.all(plan.arms.map((arm) => armSetup(arm, { source, model, prices, named, sample })))
  } finally {
    await tryRemoveFolder(dir)
  }
}

const modelFor = async (
  model: string | Model | undefined,
  named: (name: string) => Promise<ModelOfTrial>,
): Promise<ModelOfTrial | undefined> =>
  model === undefined ? undefined : typeof model === 'string' ? named(model) : () => model

/** Prepares the judge, if a check needs one. @throws RuntimeError `INVALID_OPTION` if there is none. */
export async function readyJudge(plan: EvaluationPlan): Promise<ReadyJudge | undefined> {
  const { suite, judge, named, prices, seed } = plan
  const asks = suite.tasks.find(({ checks }) => checks.some((check) => 'judge' in check))
  if (asks === undefined) return undefined
  const { definition } = suite
  const wanted = judge ?? (Object.hasOwn(definition.models ?? {}, 'judge') ? 'judge' : undefined)
  if (wanted === undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      `The task "${asks.id}" asks a judge, and none is named: give a model for it (--judge <provider:id>).`,
    )
  const model = await modelFor(wanted, (name) => modelNamed(name, definition, named))
  const made = defineJudge(model!({ task: asks.id, trial: 0, seed }), { ...definition.prices, ...prices })
  return { definition: made, isPriced: made.pricing !== null }
}

/** Checks that the budget can be kept. @throws RuntimeError `INVALID_OPTION` if a price is unknown. */
export function checkBudget(
  { budgetUsd }: EvaluationPlan,
  arms: readonly ArmSetup[],
  judge: ReadyJudge | undefined,
): void {
  if (budgetUsd === undefined) return
  const unpriced = arms.find(({ info }) => !info.isPriced)?.info
  if (unpriced === undefined && judge?.isPriced !== false) return
  const which = unpriced === undefined ? 'the judge' : `${unpriced.model}, of the arm "${unpriced.name}",`
  throw new RuntimeError(
    'INVALID_OPTION',
    `A budget needs prices, and those of ${which} are not known: give them with --prices, with pricing of the agent, or with prices of the suite.`,
  )
}

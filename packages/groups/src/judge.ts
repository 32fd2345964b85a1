import type { AnyModel } from '../../../src/actors/models/anyModel.ts'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { pricingSchema, type Pricing } from '../../../src/actors/turn/pricing.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { modelOf } from '../../ai-sdk/src/adapters/modelOf.ts'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { totalTokens } from '../../../src/protocol/messages.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'
import type { Branch } from './branch.ts'

/** A model that chooses: it sees the prompt and the numbered answers, and replies with a number. */
export interface ModelJudge {
  readonly model: AnyModel
  /** Criteria for the best answer. Default: correct first, then complete, then short. */
  readonly instructions?: string
  /** Prices of the model, whose cost counts towards the group's `costUsd`. */
  readonly pricing?: Pricing
}

/**
 * Chooses among the branches that ended well, in the order of the entries: returns one of them, or its index in that list. If it
 * throws, the group rejects with `JUDGE_FAILED`.
 */
export type JudgeFunction = (branches: readonly Branch[]) => number | Branch | Promise<number | Branch>

/**
 * Chooser of the best answer. `'first'`: the first to end well wins and the others are aborted; `'cheapest'`: the lowest cost, then the fewest
 * tokens, then the order of the entries; a function; a model; or an agent definition, which is asked like a model.
 */
export type Judge = 'first' | 'cheapest' | JudgeFunction | ModelJudge | AgentDefinition

const isModel = (value: unknown): boolean => {
  try {
    return modelOf(value as Model, 'judge') !== undefined
  } catch {
    return false
  }
}

/** Throws nothing by itself; a definition is let through untouched. */
export const judgeSchema = lazily(() =>
  z.union(
    [
      z.enum(['first', 'cheapest']),
      z.custom<JudgeFunction>((value) => typeof value === 'function'),
      z.custom<AgentDefinition>(isAgentDefinition),
      onlyFields({
        model: z.custom<Model>(isModel),
        instructions: z.string().exactOptional(),
        pricing: pricingSchema().exactOptional(),
      }),
    ],
    { error: `give 'first', 'cheapest', a function, { model, instructions?, pricing? } or what defineAgent returns` },
  ),
)

const defaultInstructions =
  'You judge answers that several agents gave to the same task. The best does the task correctly; of those the most complete; of those the shortest.'

/** Returns the agent that is asked to choose. `null` if no model is asked. */
export function judgeAgent(judge: Judge | undefined): AgentDefinition | null {
  if (judge === undefined || typeof judge === 'string' || typeof judge === 'function') return null
  if (isAgentDefinition(judge)) return judge
  const model = modelOf(judge.model, 'judge')
  return defineAgent({ instructions: defaultInstructions, ...judge, name: 'judge', model })
}

/** Returns the branch with the lowest cost, then the fewest tokens, then the first. `null` if there are none. Pure. */
export function cheapest(branches: readonly Branch[]): Branch | null {
  const [first, ...rest] = branches
  if (first === undefined) return null
  return rest.reduce((best, branch) => (isCheaper(branch, best) ? branch : best), first)
}

function isCheaper({ result: a }: Branch, { result: b }: Branch): boolean {
  return a.costUsd < b.costUsd || (a.costUsd === b.costUsd && totalTokens(a.usage) < totalTokens(b.usage))
}

/** @throws RuntimeError `JUDGE_FAILED`: it threw, or chose none of these. */
export async function chosenBy(judge: JudgeFunction, branches: readonly Branch[]): Promise<Branch> {
  const chosen = await verdictOf(judge, branches)
  const branch = typeof chosen === 'number' ? branches[chosen] : branches.find((one) => one === chosen)
  if (branch !== undefined) return branch
  const seen = typeof chosen === 'number' ? chosen : `a value of type ${chosen === null ? 'null' : typeof chosen}`
  const what = `The judge chose ${seen}, which is neither one of the ${branches.length} branches nor an index from 0 to ${branches.length - 1}.`
  throw new RuntimeError('JUDGE_FAILED', what)
}

async function verdictOf(judge: JudgeFunction, branches: readonly Branch[]): Promise<unknown> {
  try {
    return await judge(branches)
  } catch (thrown) {
    throw new RuntimeError('JUDGE_FAILED', `The judge threw: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

import { z } from 'zod'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { checkOptions, hideableSteps, hideSchema, hiding, lowestFirst, tokensOver, type HideOptions } from './choice.ts'
import type { Decider } from '../../../src/actors/define/policy.ts'
import { scoreOf, type StepScorer } from './scorers.ts'

export interface ScoredOptions extends HideOptions {
  /** Score from 0 to 1 below which steps may be hidden. Without `downTo` and `share`: all of those steps. */
  readonly below?: number
}

const optionsSchema = hideSchema({ below: z.number().gt(0).max(1).optional() })

/**
 * Hides the steps with the lowest scores until the next request is down to its target; of equal ones the oldest first. All steps that may
 * be hidden are scored: a scorer that asks a model should remember what it gave, as `modelScorer` does.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function scored(scorer: StepScorer, options: ScoredOptions = {}): Decider {
  if (typeof scorer !== 'function')
    throw new RuntimeError('INVALID_OPTION', 'decide.scored: give a scorer first, such as heuristicScorer.')
  checkOptions('decide.scored', optionsSchema, options)
  const { below, downTo, share, keepSteps } = options
  const isAll = below !== undefined && downTo === undefined && share === undefined
  return Object.freeze<Decider>({
    name: 'scored()',
    async decide(at) {
      const excess = isAll ? Infinity : tokensOver(at, options)
      if (excess <= 0) return null
      const steps = hideableSteps(at, keepSteps)
      const scores: number[] = []
      for (const step of steps) scores.push(await scoreOf(scorer, step, at, 'decide.scored'))
      const isLow = (_: unknown, index: number): boolean => below === undefined || scores[index]! < below
      return hiding(lowestFirst(steps.filter(isLow), scores.filter(isLow), excess))
    },
  })
}

import { checkOptions, firstOf, hideableSteps, hideSchema, hiding, tokensOver, type HideOptions } from './choice.ts'
import type { Decider } from '../../../src/actors/define/policy.ts'

/**
 * Hides the model's oldest steps until the next request is down to its target. No model is called.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function oldest(options: HideOptions = {}): Decider {
  checkOptions('decide.oldest', hideSchema({}), options)
  return Object.freeze<Decider>({
    name: 'oldest()',
    decide: (at) => hiding(firstOf(hideableSteps(at, options.keepSteps), tokensOver(at, options))),
  })
}

import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkOptions, hideableSteps } from './choice.ts'
import type { Consultation, Decider } from '../../../src/actors/define/policy.ts'

export interface AskOptions {
  /** Text that asks the agent, in place of the default. The sizes of its steps follow. */
  readonly ask?: string
}

/** Maximum number of steps named as the largest. */
const mostNamed = 8
const smallest = 200

const optionsSchema = onlyFields({ ask: z.string().min(1).max(4_000).optional() })

/**
 * The agent itself decides: a note after its newest step says how large its conversation has become, which steps take the most room, and by
 * which of its tools it may hide them. It needs `braking: { prune: true }` or `{ revert: true }`.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function askAgent(options: AskOptions = {}): Decider {
  checkOptions('decide.model', optionsSchema, options)
  return Object.freeze<Decider>({
    name: 'model()',
    needs: 'brakeTools',
    decide: (at) => (at.brakeTools.length === 0 ? null : { note: noteFor(at, options) }),
  })
}

function noteFor(at: Consultation, { ask }: AskOptions): string {
  const { contextTokens, contextWindow, brakeTools } = at
  // The newest step is what the agent is at.
  const largest = hideableSteps(at, 1)
    .filter(({ tokens }) => tokens >= smallest)
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, mostNamed)
  const sizes = largest.map(({ id, tokens }) => `${id} (${tokens})`).join(', ')
  const means = [
    ...(brakeTools.includes('prun')
      ? ['hide steps that you no longer need with prun, and say in its memo what of them still matters']
      : []),
    ...(brakeTools.includes('revert_to_state')
      ? ['give up an approach that failed, or put a finished part of the work together, with revert_to_state']
      : []),
  ]
  return [
    ask ?? `This conversation has about ${contextTokens} tokens, of ${contextWindow} that fit.`,
    `Before you go on: ${means.join('; or ')}. Keep what you still need; if that is everything, just go on.`,
    ...(sizes === '' ? [] : [`The largest steps, with their tokens: ${sizes}.`]),
  ].join(' ')
}

import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { parseNodeId } from '../../../src/protocol/ids.ts'
import type { Consultation, StepView, Trigger } from '../../../src/actors/define/policy.ts'
import { scoreOf, type StepScorer } from './scorers.ts'

/** The score of a step, reported as soon as it is known. */
export interface ScoredStep {
  readonly agentId: string
  /** Step id, such as `n12`. */
  readonly step: string
  /** Score from 0 to 1. */
  readonly score: number
  /** Average score of this step and the earlier ones in its window. */
  readonly average: number
}

export interface ValueBelowOptions {
  /** The average below which work is not worth its tokens. Above 0, at most 1. */
  readonly below: number
  /** Number of consecutive turns for which the average must be below. Default 3. */
  readonly turns?: number
  /** Number of steps to average. Default 5. */
  readonly window?: number
  /** Called once with each score. An error that it throws fails the policy for that turn. */
  readonly onScore?: (scored: ScoredStep) => void | Promise<void>
}

/**
 * Fires when the average score of the last `window` steps has been below a bound for `turns` turns in a row. A step is scored once, when it
 * is new; steps from before the policy last fired do not count, nor do messages of people. After a restart the newest steps are scored again.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming the argument.
 */
export function valueBelow(scorer: StepScorer, options: ValueBelowOptions): Trigger {
  const { below, turns = 3, window = 5, onScore } = options ?? {}
  const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', `when.valueBelow: ${what}.`)
  if (typeof scorer !== 'function') throw wrong('give a scorer first, such as heuristicScorer')
  if (typeof below !== 'number' || !(below > 0 && below <= 1))
    throw wrong(`below: ${String(below)}: give a number above 0, at most 1`)
  for (const [name, value] of Object.entries({ turns, window }))
    if (!Number.isInteger(value) || value < 1) throw wrong(`${name}: ${String(value)}: give a whole number, at least 1`)
  if (onScore !== undefined && typeof onScore !== 'function') throw wrong('onScore: give a function')
  const needed = window + turns - 1
  /** Scores of the steps that count, by conversation. */
  const known = new WeakMap<ConversationView, ReadonlyMap<string, number>>()
  return {
    name: `valueBelow(${below})`,
    async fires(at) {
      const before = known.get(at.conversation)
      const scores = new Map<string, number>()
      for (const step of countedSteps(at, needed)) {
        const score = before?.get(step.id) ?? (await scoreOf(scorer, step, at, 'when.valueBelow'))
        scores.set(step.id, score)
        if (before?.has(step.id) === true) continue
        known.set(at.conversation, new Map([...(before ?? []), ...scores]))
        await onScore?.({
          agentId: at.agentId,
          step: step.id,
          score,
          average: mean([...scores.values()].slice(-window)),
        })
      }
      known.set(at.conversation, scores)
      const values = [...scores.values()]
      if (values.length < needed) return null
      const averages = Array.from({ length: turns }, (_, first) => mean(values.slice(first, first + window)))
      if (averages.some((average) => average >= below)) return null
      const over = turns === 1 ? '' : ` for ${turns} turns`
      return `average score ${averages.at(-1)!.toFixed(2)}, below ${below}${over}`
    },
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the model's newest steps since the policy last fired, oldest first. */
function countedSteps({ steps, conversation, last }: Consultation, most: number): StepView[] {
  const counted: StepView[] = []
  for (let i = steps.length - 1; i >= 0 && counted.length < most; i--) {
    const step = steps[i]!
    if (step.role === 'user') continue
    const turnIndex = conversation.node(parseNodeId(step.id) ?? 0)?.turnIndex
    if (last !== undefined && turnIndex !== undefined && turnIndex < last.turn) break
    counted.push(step)
  }
  return counted.toReversed()
}

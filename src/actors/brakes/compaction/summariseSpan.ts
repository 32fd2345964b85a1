import type { ConversationNode } from '../../../conversation/tree/node.ts'
import { heuristicSummary } from '../../../conversation/brakes/compaction/heuristicSummary.ts'
import type { TokenCounter } from '../../../conversation/limits/tokenCounter.ts'
import type { Clock } from '../../../protocol/ports/clock.ts'
import type { Usage } from '../../../protocol/messages.ts'
import type { Model } from '../../../protocol/ports/model.ts'
import type { Answered, AskedAbout } from '../../turn/askModel.ts'

export interface SummaryContext {
  /** The agent's own model. */
  readonly model: Model
  readonly maxTokens: number
  readonly counter: TokenCounter
  readonly clock: Clock
  /** The summary that the span starts with, if it was compacted before. */
  readonly previous?: string
  /** Subject that a person asked to keep in the summary, in words. */
  readonly focus?: string
  readonly signal: AbortSignal
  /** Asks the agent's own model about the span in its context, if that is cheaper than a transcript. */
  readonly askAbout?: (asked: Omit<AskedAbout, 'span' | 'hasEarlier'>) => Promise<Answered>
  /** Wraps another model so that it waits for its turn within the limits of the runtime, like `model`. */
  readonly limited?: (model: Model) => Model
}

export interface Summary {
  readonly text: string
  readonly usage?: Usage
}

/**
 * Strategy that condenses a span. The span has memos instead of hidden steps, and masked results as the model sees them. Contract: reject to fall
 * back on the heuristic, stop when `signal` aborts, and write at most `maxTokens`. An error may have the `usage` of failed calls.
 */
export interface CompactionStrategy {
  readonly name: string
  summarise(span: readonly ConversationNode[], context: SummaryContext): Promise<Summary>
}

/** The default strategy: no model call, and one line for each reply or call. */
export const heuristicStrategy: CompactionStrategy = {
  name: 'heuristic',
  summarise: async (span, { maxTokens, counter, previous }) => ({
    text: heuristicSummary(span, { maxTokens, counter, ...(previous === undefined ? {} : { previous }) }),
  }),
}

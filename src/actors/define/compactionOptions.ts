import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import { defaultCompactionPolicy, type CompactionPolicy } from '../../conversation/brakes/compaction/planCompaction.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { AgentDefinition } from './agentDefinition.ts'
import { heuristicStrategy, type CompactionStrategy } from '../brakes/compaction/summariseSpan.ts'
import { withoutUndefined } from './withoutUndefined.ts'
import { agentPart } from '../parts/agentPart.ts'

export interface CompactionOptions extends Partial<CompactionPolicy> {
  /** Strategy that summarises a span. Default: `heuristicStrategy`, which calls no model. */
  readonly strategy?: CompactionStrategy
}

const share = lazily(() => z.number().gt(0).max(1))
const count = lazily(() => z.int().nonnegative())
const isStrategy = (value: unknown): boolean =>
  typeof (value as CompactionStrategy | undefined)?.summarise === 'function'

export interface CompactionOption {
  /** Compaction of the conversation. On by default for a context window of 200,000 tokens; `false` turns it off. */
  readonly compaction?: false | CompactionOptions
}

const compactionSchema = lazily(() =>
  z.union([
    z.literal(false),
    onlyFields({
      contextWindow: z.int().positive(),
      compactAt: share(),
      threshold: z.number().min(0).max(1),
      keepFirst: count(),
      keepRecent: z.int().positive(),
      maxSummaryTokens: z.int().min(50),
      maxToolOutputChars: z.int().min(100),
      minShrink: z.number().min(0).max(1),
      strategy: z.custom(isStrategy),
    }).partial(),
  ]),
)

/** Settings for a person's compaction when the definition has none. */
export const usualCompaction = { policy: defaultCompactionPolicy, strategy: heuristicStrategy } as const

function compactionOf(options: false | CompactionOptions | undefined): AgentDefinition['compaction'] {
  if (options === false) return null
  if (options === undefined) return usualCompaction
  const { strategy = heuristicStrategy, ...policy } = options
  return { policy: { ...defaultCompactionPolicy, ...withoutUndefined(policy) }, strategy }
}

/** Returns the sizes that limit the context, whether it is compacted or not. */
export const windowOf = (given: CompactionOption['compaction']): CompactionPolicy =>
  compactionOf(given)?.policy ?? defaultCompactionPolicy

/** The part that summarises old spans when the context is full. */
export const compactionPart = agentPart<CompactionOption, Pick<AgentDefinition, 'compaction'>>({
  options: { compaction: compactionSchema },
  settings: ({ compaction }) => ({ compaction: compactionOf(compaction) }),
  flags: (_, { compaction }) => ({ compact: compaction !== null }),
  staysAtHandoff: 'compaction',
})

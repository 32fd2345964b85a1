import type { z } from 'zod'
import type { RevertPolicy } from '../conversation/applyRevert.ts'
import type { CompactionPolicy } from '../conversation/planCompaction.ts'
import type { TokenCounter } from '../conversation/tokenCounter.ts'
import type { TagPolicy } from '../conversation/visibleTags.ts'
import type { AgentPolicy } from '../machines/agentTypes.ts'
import type { Usage } from '../protocol/messages.ts'
import type { Model, ModelSettings, ToolSpec } from '../protocol/model.ts'
import type { CompactionStrategy } from './summariseSpan.ts'
import type { Tool } from './tools/defineTool.ts'

/** Prices in US dollars per million tokens. */
export interface Pricing {
  readonly input: number
  readonly output: number
  /** Default: the price of `input`. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** How reverts are decided and their notes written. */
export interface RevertSettings extends RevertPolicy {
  /** Writes the line of a lesson or finding that came without one; `null`: the evidence alone. */
  readonly summaryModel: Model | null
  /** `high`: outcomes and checkpoints are always written by the agent's own model. */
  readonly fidelity: 'normal' | 'high'
  readonly summaryTimeoutMs: number
}

/** An agent's blueprint, checked and with defaults filled in; made by `defineAgent`. The same one can be spawned many times. */
export interface AgentDefinition {
  readonly name: string
  readonly model: Model
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
  /** What the model is told of the tools; one array for the agent's life, so that requests stay byte-equal. */
  readonly toolSpecs: readonly ToolSpec[]
  readonly settings: ModelSettings
  readonly policy: AgentPolicy
  readonly compaction: { readonly policy: CompactionPolicy; readonly strategy: CompactionStrategy } | null
  readonly braking: { readonly revert: RevertSettings | null; readonly tags: TagPolicy } | null
  readonly output: z.ZodType | null
  readonly pricing: Pricing | null
  readonly counter: TokenCounter
  /** Estimated tokens of instructions and tools. */
  readonly frameTokens: number
  readonly maxQueue: number
  readonly checkRequests: boolean
}

/** US dollars for a usage; 0 without prices. */
export function costOf(usage: Usage, pricing: Pricing | null): number {
  if (pricing === null) return 0
  const { input, output, cacheRead = input, cacheWrite = input } = pricing
  return (
    (usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite) /
    1_000_000
  )
}

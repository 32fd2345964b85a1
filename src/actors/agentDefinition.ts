import type { z } from 'zod'
import type { RevertPolicy } from '../conversation/applyRevert.ts'
import type { CompactionPolicy } from '../conversation/planCompaction.ts'
import type { TokenCounter } from '../conversation/tokenCounter.ts'
import type { TagPolicy } from '../conversation/visibleTags.ts'
import type { RestartPolicy } from '../machines/supervisorTypes.ts'
import type { AgentPolicy } from '../machines/agentTypes.ts'
import type { Model, ModelSettings, ToolSpec, ModelSnapshot } from '../protocol/model.ts'
import type { Pricing } from './pricing.ts'
import type { CompactionStrategy } from './summariseSpan.ts'
import type { Tool } from './tools/defineTool.ts'

/** How reverts are decided and their notes written. */
export interface RevertSettings extends RevertPolicy {
  /** Writes the line of a lesson or finding that came without one; `null`: the evidence alone. */
  readonly summaryModel: Model | null
  /** `high`: outcomes and checkpoints are always written by the agent's own model. */
  readonly fidelity: 'normal' | 'high'
  readonly summaryTimeoutMs: number
}

/** How an agent uses another. */
export interface SubAgent {
  readonly definition: AgentDefinition
  /** `own`: it starts with its task alone; `fork`: with the caller's trunk before it, which is shared and not copied. */
  readonly context: 'own' | 'fork'
  /** It outlives its caller: the call is answered at once, and an abort does not reach it. */
  readonly detach: boolean
  readonly restarts: RestartPolicy
  /** Milliseconds without an event after which it counts as crashed; waiting for approvals does not count. */
  readonly stallMs: number
}

/** An agent's blueprint, checked and with defaults filled in; made by `defineAgent`. The same one can be spawned many times. */
export interface AgentDefinition {
  readonly name: string
  readonly model: Model
  readonly instructions: string
  /** The system prompt: the instructions, and what the final answer must look like. */
  readonly system: string
  /** What it is for, to an agent that may call it. */
  readonly description: string
  /** What a caller gives beside the task. */
  readonly input: z.ZodObject | null
  /** Agents its model may call, by name. */
  readonly agents: ReadonlyMap<string, SubAgent>
  /** How deep a tree below a root of this definition may grow. */
  readonly maxDepth: number
  readonly tools: ReadonlyMap<string, Tool>
  /** What the model is told of the tools; one array for the agent's life, so that requests stay byte-equal. */
  readonly toolSpecs: readonly ToolSpec[]
  readonly settings: ModelSettings
  /** What a run's record says of model and settings. */
  readonly snapshot: ModelSnapshot
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
  readonly captureTurnRequests: boolean
}

const made = new WeakSet<object>()

/** Marks a definition as one of `defineAgent`. */
export function madeHere(definition: AgentDefinition): AgentDefinition {
  made.add(definition)
  return definition
}

/** Whether `defineAgent` made this. */
export const isAgentDefinition = (value: unknown): value is AgentDefinition =>
  typeof value === 'object' && value !== null && made.has(value)

import { isRemoteAgent, type RemoteAgentEntry } from '../parts/remote/remoteEntry.ts'
import type { z } from 'zod'
import type { RevertRules } from '../../conversation/brakes/revert/revert.ts'
import type { StallPolicy } from '../../conversation/brakes/stall/decideStall.ts'
import type { CompactionPolicy } from '../../conversation/brakes/compaction/planCompaction.ts'
import type { FoldPolicy } from '../../conversation/brakes/fold/planFold.ts'
import type { TokenCounter } from '../../conversation/limits/tokenCounter.ts'
import type { TagPolicy } from '../../conversation/request/visibleTags.ts'
import type { RestartPolicy } from '../../protocol/runs/restarts.ts'
import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import type { Model, ModelSettings, ToolSpec, ModelSnapshot } from '../../protocol/ports/model.ts'
import type { PricesByModel, Pricing } from '../turn/pricing.ts'
import type { Policy } from './policy.ts'
import type { CompactionStrategy } from '../brakes/compaction/summariseSpan.ts'
import type { AgentGuards, AgentHooks } from './hooks.ts'
import type { PartSettings } from '../parts/settings.ts'
import type { Tool } from '../tools/defineTool.ts'
import type { ToolSource } from '../tools/toolSource.ts'
import type { TurnSettings } from '../turn/turnOptions.ts'

/** How reverts are decided and their notes written. */
export interface RevertSettings extends RevertRules {
  /** Writes the text of a lesson or finding that came without one; `null`: only the evidence is shown. */
  readonly summaryModel: Model | null
  /** `high`: outcomes and checkpoints are always written by the agent's own model. */
  readonly fidelity: 'normal' | 'high'
  readonly summaryTimeoutMs: number
  /** Which of the model's reverts that condense work are held back: none, or those that would not pay yet. */
  readonly defer: 'never' | 'uneconomic'
  /** The model may ask for an undo. */
  readonly undo: boolean
}

/** How loops are handled. */
export interface StallSettings extends StallPolicy {
  /** The model can ask for reverts itself. */
  readonly offersRevert: boolean
}

/** The policies that are asked between turns, in the order of `list`. */
export interface PolicySettings {
  readonly list: readonly Policy[]
  /** How the steps that a policy chose are folded. */
  readonly fold: FoldPolicy
  readonly contextWindow: number
}

/** An agent that another may call, and how. */
export interface Callee {
  readonly definition: AgentDefinition
  /** `own`: it starts with only its task; `fork`: with the caller's trunk before it, which is shared and not copied. */
  readonly context: 'own' | 'fork'
  /** It outlives its caller: the call returns at once, and an abort does not reach it. `report`: its answer comes later, as a message. */
  readonly detach: boolean | 'report'
  /** The caller's model may continue a sub-agent that it called before. */
  readonly continuable: boolean
  readonly restarts: RestartPolicy
  /** Derives its deps from those of its caller; `null`: they are the same. */
  readonly deps: ((callerDeps: never) => unknown) | null
  /** The part of its caller's state that it has: all, to read or to change; or some fields, to read; a copy that it begins with; `null`: none. */
  readonly state: 'read' | 'write' | 'copy' | { readonly read: readonly string[] } | null
  /** Milliseconds without an event before it is treated as crashed; time spent waiting for approvals does not count. */
  readonly stallMs: number
  /** Set if no request lists it. */
  readonly isDeferred?: true
}

/** Only for the type checker: the arguments of an agent's calls, by name. */
declare const calls: unique symbol
/** Only for the type checker: the state of an agent. */
declare const has: unique symbol

/**
 * A checked agent definition with defaults filled in, created by `defineAgent`. It can be spawned many times.
 *
 * `Output` is the type of its answers as data (`undefined` without an `output` schema); `Deps` that of the value which its tools and
 * functions need of the application; `Calls` the arguments of its tools by name; `State` that of its state. Without arguments the type takes every definition.
 */
export interface AgentDefinition<
  out Output = unknown,
  in Deps = never,
  out Calls = unknown,
  out State = unknown,
> extends PartSettings<Deps> {
  readonly [calls]?: Calls
  readonly [has]?: State
  readonly name: string
  readonly model: Model
  readonly instructions: string
  /** The system prompt: the instructions, and what the final answer must look like. */
  readonly system: string
  /** The agent's purpose; agents that may call it choose by this. */
  readonly description: string
  /** Schema of the input that a caller passes in addition to the task. */
  readonly input: z.ZodObject | null
  /** Agents its model may call, by name. */
  readonly agents: ReadonlyMap<string, Callee>
  /** Agents that its model may hand the conversation over to, by name. */
  readonly handoffs: ReadonlyMap<string, AgentDefinition>
  /** How deep a tree below a root of this definition may grow. */
  readonly maxDepth: number
  readonly tools: ReadonlyMap<string, Tool<Deps>>
  /** Sources of tools that the definition does not know; the log of each agent records which of them each turn was offered. */
  readonly toolSources: readonly ToolSource[]
  /** Text that the tool sources add to the system prompt; part of `system`. Empty where it is not known which agent is meant. */
  readonly addendum: string
  readonly turns: TurnSettings<Deps>
  /** The tools as the model sees them; one array for the agent's lifetime, so that requests stay identical byte for byte. */
  readonly toolSpecs: readonly ToolSpec[]
  readonly settings: ModelSettings
  /** Model and settings as recorded for each run. */
  readonly snapshot: ModelSnapshot
  readonly policy: AgentPolicy
  readonly compaction: { readonly policy: CompactionPolicy; readonly strategy: CompactionStrategy } | null
  readonly braking: {
    readonly revert: RevertSettings | null
    /** The model may bring abandoned steps back. */
    readonly graft: boolean
    readonly fold: FoldPolicy | null
    readonly stall: StallSettings | null
    readonly policies: PolicySettings | null
    /** Set when a call is told the outcome of an earlier identical call; `brakes`: names of tools for which nothing is told. */
    readonly lessons: { readonly brakes: ReadonlySet<string> } | null
    readonly tags: TagPolicy
    /** The model has a tool that takes the id of a step. */
    readonly showsIds: boolean
  } | null
  readonly hooks: AgentHooks<Deps> | null
  readonly guards: AgentGuards<Deps> | null
  readonly output: z.ZodType<Output> | null
  /** Checks what the application gives to its runs. */
  readonly deps: z.ZodType | null
  readonly pricing: Pricing | null
  /** Prices of each model that may answer, by id, if prices were given by model. */
  readonly prices: PricesByModel | null
  readonly counter: TokenCounter
  /** Estimated tokens of instructions and tools. */
  readonly frameTokens: number
  readonly maxQueue: number
  readonly checkRequests: boolean
  readonly captureTurnRequests: boolean
}

const made = new WeakSet<object>()

/** Marks a definition as created by `defineAgent`. */
export function madeHere(definition: AgentDefinition): AgentDefinition {
  made.add(definition)
  return definition
}

/** Returns true if `defineAgent` created the value. */
export const isAgentDefinition = (value: unknown): value is AgentDefinition =>
  typeof value === 'object' && value !== null && made.has(value)

/** Returns true for what `defineAgent` of another copy of this package seems to have made. */
const isMadeElsewhere = (value: unknown): boolean => {
  const { name, snapshot, policy } = (value ?? {}) as Partial<Record<keyof AgentDefinition, unknown>>
  return (
    typeof name === 'string' && typeof snapshot === 'object' && typeof policy === 'object' && !isAgentDefinition(value)
  )
}

/** Says why an agent elsewhere cannot stand where one of this process is wanted. Pure. */
export const elsewhere = ({ name }: RemoteAgentEntry): string =>
  `"${name}" is an agent elsewhere: it is called by an agent that has it in "agents", and can be nothing else`

/** Says what a value that should be a definition is instead. `wanted`: what may be given. Pure. */
export const noDefinition =
  (wanted = 'give what defineAgent returns') =>
  ({ input }: { readonly input?: unknown }): string =>
    isRemoteAgent(input)
      ? elsewhere(input)
      : isMadeElsewhere(input)
        ? 'it was made by another copy of escapement: import defineAgent from the copy that runs it'
        : wanted

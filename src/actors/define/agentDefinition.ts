import { isRemoteAgent, type RemoteAgentEntry } from '../parts/remote/remoteEntry.ts'
import type { z } from 'zod'
import type { RevertRules } from '../../conversation/brakes/revert/planRevert.ts'
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

/** Settings for deciding reverts and writing their notes. */
export interface RevertSettings extends RevertRules {
  /** Model that writes the text of a lesson or finding that came without one; `null`: only the evidence is shown. */
  readonly summaryModel: Model | null
  /** `high`: outcomes and checkpoints are always written by the agent's own model. */
  readonly fidelity: 'normal' | 'high'
  readonly summaryTimeoutMs: number
  /** Reverts by the model to be held back: none, or those that condense work and would not pay yet. */
  readonly defer: 'never' | 'uneconomic'
  /** True if the model may ask for an undo. */
  readonly undo: boolean
}

/** Settings for handling loops. */
export interface StallSettings extends StallPolicy {
  /** True if the model can ask for reverts itself. */
  readonly offersRevert: boolean
}

/** The policies that are asked between turns, in the order of `list`. */
export interface PolicySettings {
  readonly list: readonly Policy[]
  /** Settings for folding the steps that a policy chose. */
  readonly fold: FoldPolicy
  readonly contextWindow: number
}

/** An agent that another agent may call, with the settings of its calls. */
export interface Callee {
  readonly definition: AgentDefinition
  /** `own`: it starts with only its task; `fork`: with the caller's trunk before it, which is shared and not copied. */
  readonly context: 'own' | 'fork'
  /** True if it outlives its caller: the call returns at once, and an abort does not reach it. `report`: its answer comes later, as a message. */
  readonly detach: boolean | 'report'
  /** True if the caller's model may continue a sub-agent that it called before. */
  readonly continuable: boolean
  readonly restarts: RestartPolicy
  /** Derives the sub-agent's deps from its caller's; `null`: they are the same. */
  readonly deps: ((callerDeps: never) => unknown) | null
  /** Access to the caller's state: all of it, to read or to change; some fields, to read; a copy to begin with; `null`: none. */
  readonly state: 'read' | 'write' | 'copy' | { readonly read: readonly string[] } | null
  /** Milliseconds without an event before it is treated as crashed; time spent waiting for approvals does not count. */
  readonly stallMs: number
  /** Set if no request lists the agent. */
  readonly isDeferred?: true
}

/** Only for the type checker: the arguments of an agent's calls, by name. */
declare const calls: unique symbol
/** Only for the type checker: the state of an agent. */
declare const has: unique symbol

/**
 * A checked agent definition with defaults filled in, created by `defineAgent`. It can be spawned many times.
 *
 * `Output`: type of the answers as data (`undefined` without an `output` schema). `Deps`: type of the value that its tools and functions need from
 * the application. `Calls`: arguments of its tools by name. `State`: type of its state. Without arguments, the type accepts every definition.
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
  /** The system prompt: the instructions, and the required form of the final answer. */
  readonly system: string
  /** The agent's purpose; agents that may call it choose by this. */
  readonly description: string
  /** Schema of the input that a caller passes in addition to the task. */
  readonly input: z.ZodObject | null
  /** Agents its model may call, by name. */
  readonly agents: ReadonlyMap<string, Callee>
  /** Agents that its model may hand the conversation over to, by name. */
  readonly handoffs: ReadonlyMap<string, AgentDefinition>
  /** Maximum depth of a tree below a root of this definition. */
  readonly maxDepth: number
  readonly tools: ReadonlyMap<string, Tool<Deps>>
  /** Sources of tools that are not in the definition. The log of each agent records which of these tools each turn was offered. */
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
    /** True if the model may bring abandoned steps back. */
    readonly graft: boolean
    readonly fold: FoldPolicy | null
    readonly stall: StallSettings | null
    readonly policies: PolicySettings | null
    /** Set if a call is told the outcome of an earlier identical call. `brakes`: names of the tools that are exempt. */
    readonly lessons: { readonly brakes: ReadonlySet<string> } | null
    readonly tags: TagPolicy
    /** True if the model has a tool that takes the id of a step. */
    readonly showsIds: boolean
  } | null
  readonly hooks: AgentHooks<Deps> | null
  readonly guards: AgentGuards<Deps> | null
  readonly output: z.ZodType<Output> | null
  /** Checks the value that the application gives to the agent's runs. */
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

/** Returns true if the value seems to have been made by `defineAgent` in another copy of this package. */
const isMadeElsewhere = (value: unknown): boolean => {
  const { name, snapshot, policy } = (value ?? {}) as Partial<Record<keyof AgentDefinition, unknown>>
  return (
    typeof name === 'string' && typeof snapshot === 'object' && typeof policy === 'object' && !isAgentDefinition(value)
  )
}

/** Returns the reason why a remote agent cannot be used where an agent of this process is required. Pure. */
export const elsewhere = ({ name }: RemoteAgentEntry): string =>
  `"${name}" is an agent elsewhere: it is called by an agent that has it in "agents", and can be nothing else`

/** Returns a function that says why a value is not a definition. `wanted`: text that names the accepted values. Pure. */
export const noDefinition =
  (wanted = 'give what defineAgent returns') =>
  ({ input }: { readonly input?: unknown }): string =>
    isRemoteAgent(input)
      ? elsewhere(input)
      : isMadeElsewhere(input)
        ? 'it was made by another copy of escapement: import defineAgent from the copy that runs it'
        : wanted

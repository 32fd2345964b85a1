import type { Limits } from '../protocol/runs/runLimits.ts'

/** How the calls of one reply are run. */
export type ToolExecution = 'parallel' | 'sequential' | { readonly batch: number }

/** How many waiting messages are delivered at one boundary. */
export type QueueMode = 'one-at-a-time' | 'all'

/** Waits between attempts, in milliseconds. */
export interface RetryPolicy {
  /** Total attempts for one reply; 1 never retries. */
  readonly attempts: number
  /** The first wait; each further one doubles, up to `maxMs`, and is shortened by a random share of up to half. */
  readonly baseMs: number
  readonly maxMs: number
  /** A provider that asks for a longer wait than this ends the run. */
  readonly maxRetryAfterMs: number
  /** How long a model may stay silent before or within a reply until the connection counts as lost, in milliseconds. */
  readonly silenceMs?: number
}

/** The part of an agent's definition that its machine needs. Plain data that never changes. */
export interface AgentPolicy {
  /** Opt-in switches; if one is off, its states are unreachable except through requests of people. */
  readonly flags: {
    readonly revert: boolean
    readonly prune: boolean
    readonly fold: boolean
    readonly stall: boolean
    readonly policies: boolean
    readonly compact: boolean
    /** True with the hook `beforeTool`; missing without it. */
    readonly beforeTool?: true
    /** True if rules decide about its calls; missing without `permissions`. */
    readonly permissions?: true
    /** True if code has a say in the parameters of each turn, which are then decided when the turn begins. */
    readonly turns?: boolean
    /** True if messages of people, or answers of the agent, are guarded; missing without guards. */
    readonly inputGuards?: true
    readonly outputGuards?: true
  }
  readonly toolExecution: ToolExecution
  readonly queueMode: QueueMode
  readonly limits: Limits
  readonly retry: RetryPolicy
  /** How many final answers to ask for, in total, before giving up on `output`. */
  readonly outputAttempts: number
  /** Names of sub-agents, which the model calls as tools; how many may be alive at once. */
  readonly agents: readonly string[]
  readonly maxChildren: number
  /** Names of the sub-agents that work on their own and report their outcome. */
  readonly reports: readonly string[]
  /** Names of the sub-agents that a call may go on with, by the id in its field `continue`. */
  readonly continuable: readonly string[]
  /** Names of tools and sub-agents whose calls cannot be undone, and of tools that can undo them. */
  readonly irreversible: readonly string[]
  readonly reversible: readonly string[]
  /** Names of tools that clients carry out; missing without any. */
  readonly external?: readonly string[]
  /** Names of tools whose calls go to the background, all of them or those that say so, and how many work there at once; missing without any. */
  readonly background?: { readonly always: readonly string[]; readonly choice: readonly string[]; readonly max: number }
  /** Names of tools that may end the run; missing without any. */
  readonly endsRun?: readonly string[]
  /** Names of tools that poll; empty unless stalls are looked for. */
  readonly polling: readonly string[]
  /** Names of the policies, in their order, and whether any is asked when the agent has come to rest. */
  readonly policies: { readonly names: readonly string[]; readonly atRest: boolean }
  /** How many calls of one reply are run; the others are answered with an error. */
  readonly maxCallsPerReply: number
  /** Request tokens above which the trunk is compacted, and how much it must grow before the next try. */
  readonly compaction: { readonly trigger: number; readonly regrowth: number }
}

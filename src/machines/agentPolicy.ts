import type { Limits } from '../protocol/runs/runLimits.ts'

/** Mode in which the calls of one reply run: all at once, one by one, or in batches of a fixed size. */
export type ToolExecution = 'parallel' | 'sequential' | { readonly batch: number }

/** Number of waiting messages that are delivered at one boundary. */
export type QueueMode = 'one-at-a-time' | 'all'

/** Waits between attempts, in milliseconds. */
export interface RetryPolicy {
  /** Total attempts for one reply; 1 never retries. */
  readonly attempts: number
  /** The first wait; each further one doubles, up to `maxMs`, and is shortened by a random share of up to half. */
  readonly baseMs: number
  readonly maxMs: number
  /** Longest wait that a provider may ask for. A longer one ends the run. */
  readonly maxRetryAfterMs: number
  /** Longest silence of a model before or within a reply until the connection counts as lost, in milliseconds. */
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
    /** True if there is a `beforeTool` hook; missing otherwise. */
    readonly beforeTool?: true
    /** True if rules decide about the agent's calls; missing without `permissions`. */
    readonly permissions?: true
    /** True if code takes part in choosing the parameters of each turn, which are then decided when the turn begins. */
    readonly turns?: boolean
    /** True if guards check messages from people (`inputGuards`) or the agent's answers (`outputGuards`); missing otherwise. */
    readonly inputGuards?: true
    readonly outputGuards?: true
  }
  readonly toolExecution: ToolExecution
  readonly queueMode: QueueMode
  readonly limits: Limits
  readonly retry: RetryPolicy
  /** Total number of final answers requested before giving up on `output`. */
  readonly outputAttempts: number
  /** Names of sub-agents, which the model calls as tools, and the number that may be alive at once. */
  readonly agents: readonly string[]
  readonly maxChildren: number
  /** Names of the sub-agents that work on their own and report their outcome. */
  readonly reports: readonly string[]
  /** Names of the sub-agents that a call may continue, by the id in its `continue` field. */
  readonly continuable: readonly string[]
  /** Names of tools and sub-agents whose calls cannot be undone, and of tools that can undo them. */
  readonly irreversible: readonly string[]
  readonly reversible: readonly string[]
  /** Names of tools that clients carry out; missing without any. */
  readonly external?: readonly string[]
  /** Names of tools whose calls go to the background, always or by the call's choice, and the number that may work there at once; missing if none. */
  readonly background?: { readonly always: readonly string[]; readonly choice: readonly string[]; readonly max: number }
  /** Names of tools that may end the run; missing without any. */
  readonly endsRun?: readonly string[]
  /** Names of tools that poll; empty unless stall detection is on. */
  readonly polling: readonly string[]
  /** Names of the policies, in their order. `atRest`: true if any is asked when the agent has come to rest. */
  readonly policies: { readonly names: readonly string[]; readonly atRest: boolean }
  /** Maximum number of calls run per reply; the others are answered with an error. */
  readonly maxCallsPerReply: number
  /** Request tokens above which the trunk is compacted, and the tokens by which it must grow before the next try. */
  readonly compaction: { readonly trigger: number; readonly regrowth: number }
}

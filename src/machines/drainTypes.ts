import type { AskedBrake, OutcomeOf, RequestOf } from '../protocol/brakes/brakeTable.ts'
import type {
  PolicyEnd,
  PolicyRequest,
  PruneOutcome,
  PruneRequest,
  RevertRequest,
  StallOutcome,
} from '../protocol/braking.ts'
import type { Economics } from '../protocol/economics.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Usage } from '../protocol/messages.ts'
import type { Overlay } from '../protocol/records.ts'
import type { UndoCall, UndoStep } from '../protocol/undo.ts'

/** Facts about the run by which a drain of reverts decides. */
export interface Reckoning {
  readonly turnIndex: number
  /** Outlook for the run after the drain. `crowded`: too little headroom is left, so the trunk is about to be compacted. */
  readonly outlook: 'goesOn' | 'crowded' | 'ends'
  /** Expected number of further requests: as many as the run has made. */
  readonly expected: number
}

interface RevertsLeft {
  /** Ids of requests that are left to a later drain, which only happens during a run. */
  readonly held?: readonly string[]
  /** Prunes that carry out reverts that were held back, after work has gone on. */
  readonly hidden?: readonly PruneOutcome[]
}

export type DrainInput<K extends AskedBrake> = (K extends 'revert' ? Reckoning : object) & {
  readonly agentId: string
  readonly key: string
  readonly requests: readonly RequestOf<K>[]
  readonly lastNodeId: NodeId
}

export type DrainOutput<K extends AskedBrake> = (K extends 'revert' ? RevertsLeft : object) & {
  readonly key: string
  readonly outcomes: readonly OutcomeOf<K>[]
  /** Tokens of the next request, as the context counts them; missing where they stay the same. */
  readonly contextTokens?: number
  readonly at: number
}

export interface UndoInput {
  readonly agentId: string
  readonly key: string
  readonly call: UndoCall
  /** Older calls of the same thing that are undone after this one, the newest first. */
  readonly earlier: readonly NodeId[]
}

export interface UndoOutput {
  readonly key: string
  readonly step: UndoStep
  readonly at: number
  /** Error of a store that failed before the call could be undone. Nothing has happened then. */
  readonly notStarted?: ErrorInfo
}

export interface FoldInput {
  readonly agentId: string
  /** Key of the effect, which is also the id of the fold. */
  readonly key: string
}

export interface FoldOutput {
  readonly key: string
  /** The fold; `null` if there is nothing to fold, or not enough. */
  readonly outcome: PruneOutcome | null
  readonly contextTokens: number
  readonly at: number
}

export interface StallInput {
  readonly agentId: string
  readonly key: string
  /** Id of the revert, if the check leads to one. */
  readonly revertId: string
  /** Reverts that wait for this drain. */
  readonly reverts: readonly RevertRequest[]
}

export interface StallCheck {
  readonly key: string
  /** The stall; `null` if the newest step ends no loop, or one that is in the log. */
  readonly stall: StallOutcome | null
  /** The revert that the stall leads to. */
  readonly revert?: RevertRequest
  /** Set if the stall is in the log, but the pause that it led to is not. */
  readonly isRecorded?: true
  /** Tokens that the note adds to the next request, as `contextTokens` counts. */
  readonly noteTokens: number
  readonly at: number
}

export interface ConsultInput {
  readonly agentId: string
  readonly key: string
  /** Number of policies in the list that were asked before. */
  readonly from: number
  /** Request for one policy, regardless of its trigger. */
  readonly request?: PolicyRequest
  readonly isAtRest: boolean
  /** Turns in the agent's lifetime. */
  readonly turn: number
}

export interface ConsultOutput {
  readonly key: string
  /** Number of policies in the list that have been asked by now. */
  readonly asked: number
  /** End of the policy that fired; `null` if none did. */
  readonly end: PolicyEnd | null
  /** Requests of the policy that fired. */
  readonly prune?: PruneRequest
  readonly revert?: RevertRequest
  /** Tokens that the note adds to the next request, as `contextTokens` counts. */
  readonly noteTokens: number
  readonly at: number
}

export interface CompactInput {
  readonly agentId: string
  readonly key: string
  /** True if any compaction that makes the request smaller is to be applied. */
  readonly force: boolean
  readonly focus?: string
}

export interface CompactOutput {
  readonly key: string
  readonly overlay: Omit<Overlay, 'nodeId'> | null
  readonly reason: string | null
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Economics of a compaction that is applied. */
  readonly economics?: Economics
  readonly usage: Usage | null
  readonly costUsd: number
  readonly at: number
}

import type {
  PinOutcome,
  PinRequest,
  PruneOutcome,
  PruneRequest,
  RevertOutcome,
  RevertRequest,
} from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'

export interface RevertsInput {
  readonly agentId: string
  readonly key: string
  readonly requests: readonly RevertRequest[]
  readonly turnIndex: number
  readonly lastNodeId: NodeId
}

export interface RevertsOutput {
  readonly key: string
  readonly outcomes: readonly RevertOutcome[]
  /** Tokens of the next request, as `contextTokens` counts them. */
  readonly contextTokens: number
  readonly at: number
}

export interface PrunesInput {
  readonly agentId: string
  readonly key: string
  readonly requests: readonly PruneRequest[]
}

export interface PrunesOutput {
  readonly key: string
  readonly outcomes: readonly PruneOutcome[]
  readonly contextTokens: number
  readonly at: number
}

export interface FoldInput {
  readonly agentId: string
  /** Also the id of the fold. */
  readonly key: string
}

export interface FoldOutput {
  readonly key: string
  /** `null`: there is nothing to fold, or not enough. */
  readonly outcome: PruneOutcome | null
  readonly contextTokens: number
  readonly at: number
}

export interface PinsInput {
  readonly agentId: string
  readonly key: string
  readonly requests: readonly PinRequest[]
}

export interface PinsOutput {
  readonly key: string
  readonly outcomes: readonly PinOutcome[]
  readonly at: number
}

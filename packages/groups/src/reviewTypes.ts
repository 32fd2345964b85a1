import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import type { GroupSpent } from './branch.ts'

/** An agent's work between two reviews. */
export interface ReviewWork {
  readonly agentId: string
  /** `review-<name>-<seq>`, with the seq of the last turn's end. Unchanged if the process dies and the review is repeated. */
  readonly key: string
  /** Number of turns since the last review. */
  readonly turns: number
  /** Newest message from a person, at most 4,000 characters. Empty if there is none. */
  readonly asked: string
  /** The steps of these turns that are on the trunk, oldest first, as a transcript of at most 40,000 characters without secrets. */
  readonly transcript: string
}

/** A finding as data. `ok: true` means that there is none. */
export interface ReviewFinding {
  readonly ok?: boolean
  readonly finding?: string
}

type Awaitable<T> = T | Promise<T>

/**
 * A function that reviews. It returns its finding, at most 4,000 characters. Nothing, an empty text, `'ok'` or `{ ok:
 * true }` mean none. `signal` is aborted with the review.
 */
export type Reviewer = (
  work: ReviewWork,
  at: { readonly signal: AbortSignal },
) => Awaitable<string | ReviewFinding | null | undefined>

export interface ReviewedOptions {
  /** An agent that reviews, or a function. An agent's answer is read like a function's result. */
  readonly with: AgentDefinition | Reviewer
  /** Number of finished turns after which a review begins. Default 5. */
  readonly every?: number | undefined
  /** Returns true if this work is worth a review. Otherwise `when` is called again after as many turns, with all of them. Default: all work is. */
  readonly when?: ((work: ReviewWork) => Awaitable<boolean>) | undefined
  /** Maximum number of findings in a run; then no further review begins in it. Runs that findings begin or `resume` continues count as one with those before. Default 3. */
  readonly most?: number | undefined
  /**
   * Way to deliver a finding: `steer`, between two calls, where calls of the reply that have not begun are skipped;
   * `followUp`, when the run would otherwise end. Default `steer`.
   */
  readonly as?: 'steer' | 'followUp' | undefined
  /** Handling of a finding that comes when no run is active: it waits for the next run, or begins one. Default `wait`. */
  readonly atRest?: 'wait' | 'begin' | undefined
  /** Time limit of a review in milliseconds. Default 300,000. */
  readonly timeoutMs?: number | undefined
  /** Name of the reviewer in ids and messages: 1 to 40 letters, digits, `_` or `-`. Default: the definition's name, or `review`. */
  readonly name?: string | undefined
  /** Limits for each review by an agent, overriding those of its definition. */
  readonly limits?: Limits | undefined
  /** Dependencies of the agent that reviews. */
  readonly deps?: unknown
}

/** The reviews of an agent, until they or the agent end. */
export interface Reviewing {
  /** Id of the reviewing agent, whose session holds its work: `<agent>-<name>`. `undefined` for a function. */
  readonly reviewerId: string | undefined
  /** Lifetime usage of the reviewing agent. It counts towards no budget of the agent under review. */
  readonly spent: GroupSpent
  /** True if a finding waits for the next run. */
  readonly isHolding: boolean
  /** Resolves once no review is under way. */
  settled(): Promise<void>
  /** Ends the review under way, and begins no others. Idempotent. */
  end(): Promise<void>
}

import type { AnyModel } from '../../../../src/actors/models/anyModel.ts'
import type { PricesByModel } from '../../../../src/actors/turn/pricing.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Tracer } from '../../../../src/protocol/ports/tracer.ts'
import type { LogRecord, RunStopReason } from '../../../../src/protocol/records.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import type { ScorerAnswer } from '../suite/defineSuite.ts'

/** A run in production that a scorer judges, as its log has it, without the secrets that the runtime redacts. */
export interface ScoredRun {
  readonly agentId: string
  readonly definition: string
  readonly runId: string
  readonly metadata: Metadata
  /** Messages of people in the run, oldest first. */
  readonly prompts: readonly string[]
  /** Text of the last reply; empty if there was no reply. */
  readonly answer: string
  readonly stopReason: RunStopReason
  /** Cost of the run in US dollars, and its number of turns. */
  readonly costUsd: number
  readonly turns: number
  /** Records of the run, in order; those of sub-agents are in logs of their own. */
  readonly records: readonly LogRecord[]
  /** Aborted when the scoring is closed, or has taken a minute. */
  readonly signal: AbortSignal
}

/** Judges a run: a function, or criteria for the judge. A judge's score passes from `min` (default 0.5) on. */
export type LiveScorer =
  | ((run: ScoredRun) => ScorerAnswer | Promise<ScorerAnswer>)
  | { readonly judge: string; readonly min?: number }

/** A score of a run. */
export interface LiveScore {
  readonly scorer: string
  readonly agentId: string
  readonly definition: string
  readonly runId: string
  /** Value from 0 to 1. */
  readonly value: number
  readonly passed: boolean
  readonly reason?: string
  /** Id of the agent whose session holds the score, and what it cost. */
  readonly scoredBy: string
  /** Cost of the score in US dollars; 0 for a function, and for a judge without known prices. */
  readonly costUsd: number
  /** Time of the score, in epoch milliseconds. */
  readonly time: number
}

export interface LiveScoresOptions {
  readonly scorers: Readonly<Record<string, LiveScorer>>
  /** Share of the runs that are scored, from 0 to 1. A run is chosen by its id, so that every process chooses the same. Default 0.1. */
  readonly sample?: number
  /** Names of the definitions whose runs are scored. Default: all. */
  readonly definitions?: readonly string[]
  /** Model of the judge, with its prices by model id. */
  readonly judge?: AnyModel
  readonly prices?: PricesByModel
  /** US dollars that judges may spend per day (UTC), in all processes; a running judgment may exceed it. Needs `prices`. */
  readonly budgetUsd?: number
  /** Number of runs that are scored at the same time. Default 2. */
  readonly concurrency?: number
  /** Milliseconds before `begin` in which ended runs without a score are looked for. Default: one day; 0: none. */
  readonly lookBackMs?: number
  /** Called with each score once it is stored. */
  readonly onScore?: (score: LiveScore) => void
  /** Called with each error that kept a run from being scored, which has no other effect. Default: a process warning for the first. */
  readonly onError?: (
    error: Error,
    at: { readonly agentId: string; readonly runId: string; readonly scorer?: string },
  ) => void
  /** Clock of the runtime. Default: the system's. */
  readonly clock?: Clock
}

/** Scores sampled runs. As a tracer of the runtime it learns when runs end. Made by `liveScores`. */
export interface LiveScores {
  /** Tracer to pass to `createRuntime`. */
  readonly tracer: Tracer
  /** Number of runs that wait to be scored or are being scored. */
  readonly waiting: number
  /** Begins to score, and looks for unscored runs of earlier processes in the runtime's store. Resolves once it has looked. Call it once. */
  begin(runtime: AgentRuntime, store: Store): Promise<void>
  /** Resolves once no run waits to be scored. */
  settled(): Promise<void>
  /** Aborts the scoring under way; those runs are scored after the next `begin`. Call it before the runtime is closed. Idempotent. */
  close(): Promise<void>
}

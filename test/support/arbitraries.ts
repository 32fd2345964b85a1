import * as fc from 'fast-check'
import type { AgentPolicy, ToolExecution } from '../../src/machines/agentPolicy.ts'
import type { ModelErrorKind } from '../../src/protocol/ports/model.ts'
import type { Limits } from '../../src/protocol/runs/runLimits.ts'

/** How an effect ends; each kind of effect reads the parts that concern it. */
export interface Outcome {
  /** One entry for each tool call of the reply: true if it needs approval. */
  readonly calls: readonly boolean[]
  readonly failure: ModelErrorKind | null
  readonly retryAfterMs: number | null
  readonly isError: boolean
  readonly notStarted: boolean
  /** True if a compaction is applied, or a partial reply is kept. */
  readonly isKept: boolean
  /** Brake that a call asks for. */
  readonly brake: 'revert' | 'prune' | null
  readonly tokens: number
}

/** Something that happens to an agent: a command of a person, or the end of an effect; `pick` chooses among the current ones. */
export type Move =
  | { readonly do: 'prompt' | 'interrupt'; readonly limits: Limits | null }
  | {
      readonly do:
        | 'steer'
        | 'followUp'
        | 'abort'
        | 'stop'
        | 'failStore'
        | 'firstToken'
        | 'revert'
        | 'prune'
        | 'pin'
        | 'graft'
        | 'compact'
        | 'brake'
        | 'spawn'
        | 'ask'
        | 'use'
    }
  | { readonly do: 'resume'; readonly limits: Limits | null }
  | { readonly do: 'decide'; readonly pick: number; readonly decision: 'approve' | 'deny' }
  | { readonly do: 'tick'; readonly ms: number }
  | { readonly do: 'end' | 'late' | 'forge'; readonly pick: number; readonly outcome: Outcome }
  | { readonly do: 'crash'; readonly pick: number }

/** fast-check's objects have no prototype unless told to: such are not plain JSON. */
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>

const limits: fc.Arbitrary<Limits> = fc.oneof(
  fc.constant({}),
  record({ turns: fc.integer({ min: 1, max: 3 }) }),
  record({ tokens: fc.integer({ min: 1, max: 400 }) }),
  record({ costUsd: fc.constantFrom(0.01, 0.02) }),
  record({ ms: fc.integer({ min: 1, max: 500 }) }),
  record({ turns: fc.integer({ min: 1, max: 3 }), onLimit: fc.constant('answer' as const) }),
  record({ ms: fc.integer({ min: 1, max: 500 }), onLimit: fc.constant('answer' as const) }),
)

const maybeLimits = fc.option(limits, { freq: 4, nil: null })

const outcome: fc.Arbitrary<Outcome> = record({
  calls: fc.oneof(
    { weight: 1, arbitrary: fc.constant<boolean[]>([]) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom(false, false, true), { minLength: 1, maxLength: 3 }),
    },
  ),
  failure: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<ModelErrorKind>('rateLimited', 'network', 'auth', 'overflow', 'badRequest', 'other'),
    },
  ),
  retryAfterMs: fc.constantFrom(null, null, 0, 50, 100_000),
  isError: fc.boolean(),
  notStarted: fc.constantFrom(false, false, false, true),
  isKept: fc.boolean(),
  brake: fc.constantFrom(null, null, 'revert' as const, 'prune' as const),
  tokens: fc.constantFrom(0, 10, 200, 12_000),
})

const pick = fc.nat(6)

/** A random road: people say and decide things, effects end in any order and any way. Stops and broken stores are rare. */
export const moves = (options: { maxLength: number }): fc.Arbitrary<Move[]> =>
  fc.array(
    fc.oneof(
      { weight: 30, arbitrary: record({ do: fc.constant('end' as const), pick, outcome }) },
      { weight: 3, arbitrary: record({ do: fc.constant('late' as const), pick, outcome }) },
      { weight: 1, arbitrary: record({ do: fc.constant('forge' as const), pick, outcome }) },
      { weight: 2, arbitrary: record({ do: fc.constant('crash' as const), pick }) },
      {
        weight: 6,
        arbitrary: record({ do: fc.constantFrom('prompt' as const, 'interrupt' as const), limits: maybeLimits }),
      },
      {
        weight: 10,
        arbitrary: record({
          do: fc.constantFrom(
            'steer' as const,
            'followUp' as const,
            'abort' as const,
            'firstToken' as const,
            'revert' as const,
            'prune' as const,
            'pin' as const,
            'graft' as const,
            'compact' as const,
            'brake' as const,
            'spawn' as const,
            'use' as const,
          ),
        }),
      },
      {
        weight: 1,
        arbitrary: record({
          do: fc.constantFrom('failStore' as const, 'failStore' as const, 'failStore' as const, 'stop' as const),
        }),
      },
      { weight: 4, arbitrary: record({ do: fc.constant('ask' as const) }) },
      { weight: 4, arbitrary: record({ do: fc.constant('resume' as const), limits: maybeLimits }) },
      {
        weight: 5,
        arbitrary: record({
          do: fc.constant('decide' as const),
          pick,
          decision: fc.constantFrom('approve' as const, 'deny' as const),
        }),
      },
      { weight: 3, arbitrary: record({ do: fc.constant('tick' as const), ms: fc.nat(300) }) },
    ),
    { ...options, size: 'max' },
  )

/** Policies that an agent's definition may set. */
export const policies: fc.Arbitrary<Partial<AgentPolicy>> = record({
  flags: record({
    revert: fc.boolean(),
    prune: fc.boolean(),
    fold: fc.boolean(),
    stall: fc.boolean(),
    policies: fc.boolean(),
    compact: fc.boolean(),
    turns: fc.boolean(),
  }),
  policies: record({ names: fc.constantFrom(['tidy'], ['tidy', 'review']), atRest: fc.boolean() }),
  toolExecution: fc.constantFrom<ToolExecution>('parallel', 'sequential', { batch: 2 }),
  agents: fc.constantFrom([], ['helper']),
  maxChildren: fc.integer({ min: 1, max: 3 }),
  queueMode: fc.constantFrom('one-at-a-time' as const, 'all' as const),
  limits,
  retry: record({
    attempts: fc.integer({ min: 1, max: 3 }),
    baseMs: fc.constant(100),
    maxMs: fc.constant(1_000),
    maxRetryAfterMs: fc.constant(1_000),
  }),
})

/** One more thing in a conversation; `LogPlayer` of test/conversation makes records of it. */
export type Happening =
  | { readonly type: 'user'; readonly words: string; readonly source: 'prompt' | 'steering' | 'followUp' }
  | {
      readonly type: 'reply'
      readonly words: string
      readonly thinking: 'none' | 'signed' | 'unsigned'
      readonly isAborted: boolean
      readonly input: number
    }
  | {
      readonly type: 'step'
      readonly words: string
      readonly thinking: 'none' | 'signed' | 'unsigned'
      readonly outputs: readonly string[]
      /** Results come in the order of these numbers. */
      readonly order: readonly number[]
    }
  | {
      readonly type: 'compact'
      readonly first: number
      readonly recent: number
      readonly summary: string
      readonly maxChars: number
    }

const words = fc.oneof(
  { weight: 5, arbitrary: fc.string({ maxLength: 40, unit: 'grapheme' }) },
  { weight: 2, arbitrary: fc.constantFrom('', ' ', '\n', 'x'.repeat(500), '😀'.repeat(200)) },
)
const thinking = fc.constantFrom('none' as const, 'signed' as const, 'unsigned' as const)

/** A random conversation: people, replies, tools whose results come in any order, compactions nested in each other. */
export const histories = (options: { maxLength: number }): fc.Arbitrary<Happening[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: record({
          type: fc.constant('user' as const),
          words: words.filter((said) => said.trim() !== ''),
          source: fc.constantFrom('prompt' as const, 'steering' as const, 'followUp' as const),
        }),
      },
      {
        weight: 2,
        arbitrary: record({
          type: fc.constant('reply' as const),
          words,
          thinking,
          isAborted: fc.boolean(),
          input: fc.constantFrom(0, 10, 1_000, 50_000),
        }),
      },
      {
        weight: 4,
        arbitrary: record({
          type: fc.constant('step' as const),
          words,
          thinking,
          outputs: fc.array(words, { minLength: 1, maxLength: 4 }),
          order: fc.array(fc.nat(100), { minLength: 4, maxLength: 4 }),
        }),
      },
      {
        weight: 2,
        arbitrary: record({
          type: fc.constant('compact' as const),
          first: fc.nat(2),
          recent: fc.nat(4),
          summary: words,
          maxChars: fc.constantFrom(100, 150, 300),
        }),
      },
    ),
    { ...options, size: 'max' },
  )

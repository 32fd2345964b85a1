import type { ConversationView } from '../../conversation/tree/conversationView.ts'
import type { RevertCategory, Stall } from '../../protocol/braking.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { RuntimeError, quoted } from '../../protocol/errors.ts'
import type { Memory, MemoryRecord, MemoryScope } from '../../protocol/ports/memory.ts'
import type { Model } from '../../protocol/ports/model.ts'
import type { Pricing } from '../turn/pricing.ts'

/** A step of the trunk that the model sees, as a policy is shown it. */
export interface StepView {
  /** Id of the step, such as `n12`. */
  readonly id: string
  /** `user`: a person's message; `assistant`: a reply of the model with the results of its calls. */
  readonly role: 'user' | 'assistant'
  /** Estimated tokens of the step as shown, corrected by the provider's counts. */
  readonly tokens: number
  /** Reason why the step may not be hidden, such as `'is pinned'`; missing if it may. */
  readonly fixed?: string
  /** Returns the messages, calls and results of the step as text, with long results cut in the middle. Computed on demand. */
  text(): string
}

/** State between two turns that the parts of a policy are given, and their only ways to reach a model. */
export interface Consultation {
  /** Name of the policy. */
  readonly policy: string
  readonly agentId: string
  readonly conversation: ConversationView
  /** Steps that the model sees, oldest first, without those that an earlier policy of the list hides in the same drain. */
  readonly steps: readonly StepView[]
  /** Estimated tokens of the next request, instructions and tools included. */
  readonly contextTokens: number
  /** Tokens of `contextTokens` that no policy can change: instructions, tools, messages of people, pinned steps. */
  readonly fixedTokens: number
  /** Context window of the model, from `compaction.contextWindow`. */
  readonly contextWindow: number
  /** Tokens of a request above which a compaction begins; `undefined` when it is off. */
  readonly compactsAt: number | undefined
  /** True if the model has the tool `recall`, which a memo may point to. */
  readonly canRecall: boolean
  /** Average number of tokens by which a request exceeded the one before; recent ones count more. */
  readonly growth: number
  /** Number of requests in the agent's lifetime. */
  readonly turn: number
  /** True if no run is active: the policy is asked in the background. */
  readonly isAtRest: boolean
  /** True if somebody asked for the policy by name, with `agent.brake`. */
  readonly isRequested: boolean
  /** The loop that ends with the newest step, found by `braking.stall` or by its default rules. */
  readonly stall: Stall | undefined
  /** Turn and context size when the policy last fired; `undefined` before the first time. */
  readonly last: { readonly turn: number; readonly contextTokens: number } | undefined
  /** The agent's own model; `pricing`: its prices. */
  readonly model: Model
  readonly pricing: Pricing | null
  /** Names of the tools by which the agent's model reshapes its conversation itself: `prun`, `revert_to_state`, both or none. */
  readonly brakeTools: readonly string[]
  readonly clock: Clock
  /** Aborted with the run, or when the policy takes longer than its `timeoutMs`. */
  readonly signal: AbortSignal
  /** Asks a model one question, by default the agent's own. The cost counts towards the run. Rejects when it fails. */
  ask(question: Question): Promise<string>
  /** Runs an agent that leaves no trace, and resolves with its answer. The cost counts towards the run. Rejects when it fails. */
  run(agent: Runnable, prompt: string): Promise<Answer>
  /**
   * Keeps a fact in a memory: without secrets, cut to the limit of a memory, and marked as tainted if the agent, or one
   * that `run` started, may have it from a tool. `null`: nothing was kept, because the agent is incognito or it is not
   * known whom it works for. Rejects when the memory fails.
   */
  remember(memory: Memory, fact: FactToKeep): Promise<MemoryRecord | null>
  /** The agent's log so far, as the lines of a file that `importSession` reads, each with its newline. Rejects when the store fails. */
  exportSession(): AsyncIterable<string>
}

export interface Question {
  readonly model?: Model | undefined
  readonly system: string
  readonly text: string
  /** Consecutive steps of which `text` is a transcript. The agent's own model may then be asked where it sees them, if that is cheaper. */
  readonly steps?: readonly Pick<StepView, 'id'>[] | undefined
  /** Maximum number of tokens of the answer; default 1,000. */
  readonly maxTokens?: number | undefined
}

/** A fact that a policy wants to be known later. */
export interface FactToKeep {
  /** Key of the fact. A fact that is kept again under the same key is stored once. */
  readonly key: string
  readonly text: string
  /** Scope of the fact. Default: the one in which the definition's `memory` keeps facts; without a `memory`, `agent:<definition>`. */
  readonly scope?: MemoryScope | undefined
  /** Kind of the fact. Default `fact`. */
  readonly kind?: 'fact' | 'episode' | undefined
  /**
   * Set if the text holds only words of people, names of tools and figures, and nothing that a tool or a model said. It
   * is not tainted then, except for a sub-agent, whose task another model wrote.
   */
  readonly isOfRuntime?: true | undefined
}

/** A definition made by `defineAgent`. */
export interface Runnable {
  readonly name: string
}

export interface Answer {
  readonly text: string
  /** The answer as data, if the agent has an `output` schema. */
  readonly output?: unknown
}

type Awaitable<T> = T | Promise<T>

/** Condition on which a policy acts. */
export interface Trigger {
  /** Name of the trigger, such as `tokensOver(60000)`. */
  readonly name: string
  /** True if it is also asked once whenever the agent has come to rest; by default it is asked between turns only. */
  readonly atRest?: boolean
  /** Returns why it fires, in a few words; `null` if it does not. Asked between all turns, so it should be cheap. */
  fires(at: Consultation): Awaitable<string | null>
}

/**
 * Changes to the trunk that a policy plans. The kernel checks them: a change that it may not make is refused, with the reason in the log.
 */
export interface Plan {
  /** Steps to hide, by any of their ids. `keep` decides what remains of them. */
  readonly hide?: readonly string[]
  /** Text to leave in their place. `keep` is not asked then. */
  readonly memo?: string
  /** A branch to abandon or to condense, as with `revert_to_state`. */
  readonly revert?: { readonly step: string; readonly category: RevertCategory; readonly summary?: string }
  /** Note to the agent after its newest step. Not together with a `revert`, which removes that step and has a `summary`. */
  readonly note?: string
  /** Reason for the plan in one sentence, for the log. */
  readonly why?: string
}

/** The part of a policy that decides what to hide. */
export interface Decider {
  readonly name: string
  /** `brakeTools`: the agent's model must have `prun` or `revert_to_state`; a definition without them is refused. */
  readonly needs?: 'brakeTools'
  /** Returns the plan; `null` if there is nothing to do. */
  decide(at: Consultation): Awaitable<Plan | null>
}

/** Steps that are about to be hidden, oldest first. All of them may be hidden. */
export interface HiddenPart {
  /**
   * Key of the part, the same if the process dies and the steps are hidden again: a copy stored elsewhere under it replaces the earlier
   * one.
   */
  readonly key: string
  readonly steps: readonly StepView[]
  /** Estimated tokens of the steps. */
  readonly tokens: number
}

/** Form in which hidden steps stay in the model's sight. The whole stays in the log, and `recall` reads it. */
export type Kept =
  /** One note for all of them, or nothing. */
  | { readonly as: 'memo'; readonly memo?: string }
  /** A line for each step, with an index of the names found nowhere else. `rollUp`: older lines become shorter as they pile up. */
  | { readonly as: 'lines'; readonly rollUp?: boolean }
  /** The replies and calls as they were; the results give way to a line. */
  | { readonly as: 'calls' }

/** The part of a policy that decides what remains of the steps that a plan hides. */
export interface Keeper {
  readonly name: string
  keep(part: HiddenPart, at: Consultation): Awaitable<Kept>
}

export interface PolicyOptions {
  /** Name of the policy: 1 to 64 letters, digits, `_` or `-`; unique among the agent's policies. */
  readonly name: string
  readonly when: Trigger
  readonly decide: Decider
  /** Keeper of the hidden steps. Default: a line for each step, and an index. */
  readonly keep?: Keeper
  /** Time limit in milliseconds; default 60,000. */
  readonly timeoutMs?: number
  /** Number of turns before the policy is asked again after it fired and changed nothing; default 5. */
  readonly retryTurns?: number
}

/** A policy, with when to act, who decides, and what is kept: one entry of `braking.policies`, made with `policy`. */
export interface Policy {
  readonly name: string
  readonly when: Trigger
  readonly decide: Decider
  readonly keep: Keeper
  readonly timeoutMs: number
  readonly retryTurns: number
}

const made = new WeakSet<object>()

/** Returns true if `policy` made the value. */
export const isPolicy = (value: unknown): value is Policy =>
  typeof value === 'object' && value !== null && made.has(value)

/** Keeper by default: leaves a line for each step. */
export const notesKeeper: Keeper = Object.freeze({ name: 'notes()', keep: () => ({ as: 'lines' }) as const })

/**
 * Creates a policy for `braking.policies`: between turns, when `when` fires, `decide` says what to hide, and `keep` what remains of it.
 *
 * The kernel does the rest: a plan goes through the same drains as a request of a person or the model, with the same refusals. A policy
 * that throws, hangs or answers nonsense changes nothing and leaves a `policy.end` event that says so.
 *
 * @throws RuntimeError `INVALID_DEFINITION`, naming the part that is missing or malformed.
 */
export function policy(options: PolicyOptions): Policy {
  const { name, when, decide, keep = notesKeeper, timeoutMs = 60_000, retryTurns = 5 } = options ?? {}
  const wrong = (what: string): RuntimeError =>
    new RuntimeError('INVALID_DEFINITION', `Policy ${quoted(name)}: ${what}.`)
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw wrong('name: use 1 to 64 letters, digits, "_" or "-"')
  if (typeof when?.fires !== 'function') throw wrong('when: give a trigger, such as when.tokensOver(60_000)')
  if (typeof decide?.decide !== 'function') throw wrong('decide: give a decider, such as decide.oldest()')
  if (typeof keep?.keep !== 'function') throw wrong('keep: give a keeper, such as keep.notes()')
  if (!(timeoutMs > 0) || timeoutMs > 2 ** 31 - 1) throw wrong('timeoutMs: give a number of milliseconds above 0')
  if (!Number.isInteger(retryTurns) || retryTurns < 1)
    throw wrong('retryTurns: give a whole number of turns, at least 1')
  const result: Policy = Object.freeze({ name, when, decide, keep, timeoutMs, retryTurns })
  made.add(result)
  return result
}

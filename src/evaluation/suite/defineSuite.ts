import type { AnyModel } from '../../actors/models/anyModel.ts'
import { z } from 'zod'
import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { pricingSchema, type PricesByModel } from '../../actors/pricing.ts'
import type { AgentChanges } from '../../actors/redefine.ts'
import type { WorkspaceTool } from '../../actors/tools/workspace/workspaceTools.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { Model } from '../../protocol/model.ts'
import { onlyFields } from '../../protocol/onlyFields.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { RunResult } from '../../runs/runResult.ts'
import type { Score, TrialMetrics } from '../results.ts'
import { taskSchema, type Task } from './task.ts'

/** Which trial of which task something is for. */
export interface TrialPlace {
  readonly task: string
  /** From 0. */
  readonly trial: number
  /** The same for all arms. */
  readonly seed: number
}

/** What the agent of a trial is made of. */
export interface TrialGiven extends TrialPlace {
  /** The folder of the trial. */
  readonly dir: string
  readonly model: Model
  /** `workspaceTools(dir)`, whose commands run where the evaluation runs commands. */
  readonly tools: readonly WorkspaceTool[]
}

/** What is evaluated: an agent, or a function, not an async one, that makes the one of a trial. */
export type AgentSource = AgentDefinition | ((given: TrialGiven) => AgentDefinition)

/** A call that waits for an approval. */
export interface AskedCall extends TrialPlace {
  readonly name: string
  readonly input: unknown
}

/** What a scorer is given. */
export interface ScoredTrial extends TrialPlace {
  readonly arm: string
  /** What it was asked with: the check that names it, or `{}`. */
  readonly options: { readonly [option: string]: unknown }
  readonly dir: string
  readonly prompts: readonly string[]
  /** The last answer. */
  readonly answer: string
  /** How the last run ended; `null` before the agent began, when the task is tried without it. */
  readonly result: RunResult | null
  /** The logs of the agent and of those below it, by id. */
  readonly records: ReadonlyMap<string, readonly LogRecord[]>
  readonly metrics: TrialMetrics | null
  readonly signal: AbortSignal
  /** Runs a command in the folder of the trial, where commands of the evaluation run. */
  run(command: string, options?: { readonly timeoutMs?: number }): Promise<CommandResult>
}

/** What came of a command. */
export interface CommandResult {
  /** `null`: it was killed. */
  readonly code: number | null
  /** Standard output and error in the order they were written; the middle of a long one left out. */
  readonly output: string
  readonly timedOut: boolean
}

/** What a scorer found: whether it passed, a value from 0 to 1 (passed from 0.5 on), or both with a reason. */
export type ScorerAnswer = boolean | number | (Pick<Score, 'value'> & Partial<Pick<Score, 'passed' | 'reason'>>)

/** Judges a trial. If it throws, or takes longer than a minute, that score has failed, with the reason. */
export type Scorer = (trial: ScoredTrial) => ScorerAnswer | Promise<ScorerAnswer>

/** Options of an agent in place of its own; or a function that makes them of its own. */
export type Overlay = AgentChanges | ((options: Readonly<AgentChanges>) => AgentChanges)

/** A suite, as its module `suite.ts` exports it. Only scorers may be async. */
export interface SuiteDefinition {
  /** The agent of a trial. Default: one that codes in the folder of the trial, with `tools` and without approvals. */
  readonly agent?: (given: TrialGiven) => AgentDefinition
  /** Models by name, for `--model`, `--judge` and arms such as `model=<name>`; `embedded` needs no key, and is the default without one. */
  readonly models?: { readonly [name: string]: (place: TrialPlace) => AnyModel }
  readonly scorers?: { readonly [name: string]: Scorer }
  /** Arms by name, beside those there are. */
  readonly arms?: { readonly [name: string]: Overlay }
  /** What people decide about calls that need an approval; they are asked nothing else. Default: they approve everything. */
  readonly decide?: (asked: AskedCall) => 'approve' | { readonly deny: string }
  /** Besides those of folders. */
  readonly tasks?: readonly Task[]
  /** Prices of models by id, for agents that set none. */
  readonly prices?: PricesByModel
}

const called = z.custom((value) => typeof value === 'function', 'give a function')
const named = (schema: z.ZodType): z.ZodType => z.record(z.string().min(1), schema)

/** What `suite.ts` may export. */
export const suiteSchema = lazily(() =>
  onlyFields({
    agent: called.optional(),
    models: named(called).optional(),
    scorers: named(called).optional(),
    arms: named(
      z.custom(
        (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
        'give options of defineAgent, or a function that makes them',
      ),
    ).optional(),
    decide: called.optional(),
    tasks: z.array(taskSchema()).optional(),
    prices: named(pricingSchema()).optional(),
  }),
)

/**
 * For `suite.ts` of a suite: gives back what it is given, so that editors know its fields. It is checked when the suite is read.
 *
 * @example
 * ```ts no-run
 * import { defineSuite } from 'escapement/testing'
 *
 * // suite.ts exports this as its default.
 * const suite = defineSuite({
 *   agent: ({ model, tools }) => defineAgent({ name: 'fixer', model, tools, instructions: 'Make the tests pass.' }),
 *   scorers: { short: ({ answer }) => answer.length < 500 },
 * })
 * ```
 */
export const defineSuite = (suite: SuiteDefinition): SuiteDefinition => suite

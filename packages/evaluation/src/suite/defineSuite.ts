import type { AnyModel } from '../../../../src/actors/models/anyModel.ts'
import { z } from 'zod'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { pricingSchema, type PricesByModel } from '../../../../src/actors/turn/pricing.ts'
import type { AgentChanges } from '../redefine.ts'
import type { WorkspaceTool } from '../../../tools/src/workspace/workspaceTools.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { Score, TrialMetrics } from '../results.ts'
import { taskSchema, type Task } from './task.ts'

/** Task and number of a trial. */
export interface TrialPlace {
  readonly task: string
  /** Number of the trial, from 0. */
  readonly trial: number
  /** Seed of the trial: the same for all arms. */
  readonly seed: number
}

/** Values for creating the agent of a trial. */
export interface TrialGiven extends TrialPlace {
  /** The folder of the trial. */
  readonly dir: string
  readonly model: Model
  /** Tools of `workspaceTools(dir)`, whose commands run where the evaluation runs commands. */
  readonly tools: readonly WorkspaceTool[]
}

/** The subject of an evaluation: an agent, or a function, which must not be async, that makes the agent of a trial. */
export type AgentSource = AgentDefinition | ((given: TrialGiven) => AgentDefinition)

/** A call that waits for an approval. */
export interface AskedCall extends TrialPlace {
  readonly name: string
  readonly input: unknown
}

/** Data of a trial that a scorer judges. */
export interface ScoredTrial extends TrialPlace {
  readonly arm: string
  /** Options of the scorer: the check that names it, or `{}`. */
  readonly options: { readonly [option: string]: unknown }
  readonly dir: string
  readonly prompts: readonly string[]
  /** The last answer. */
  readonly answer: string
  /** Result of the last run; `null` if the task is tried before an agent has worked. */
  readonly result: RunResult | null
  /** Logs of the agent and of those below it, by id. */
  readonly records: ReadonlyMap<string, readonly LogRecord[]>
  readonly metrics: TrialMetrics | null
  readonly signal: AbortSignal
  /** Runs a command in the folder of the trial, where the evaluation runs commands. */
  run(command: string, options?: { readonly timeoutMs?: number }): Promise<CommandResult>
}

/** Result of a command. */
export interface CommandResult {
  /** Exit code; `null`: the command was killed. */
  readonly code: number | null
  /** Standard output and error in the order they were written; the middle of a long output is left out. */
  readonly output: string
  readonly timedOut: boolean
}

/** Answer of a scorer: `true` if the trial passed, a value from 0 to 1 (passed from 0.5 on), or both with a reason. */
export type ScorerAnswer = boolean | number | (Pick<Score, 'value'> & Partial<Pick<Score, 'passed' | 'reason'>>)

/** Judges a trial. If it throws, or takes longer than a minute, its score has failed, with the reason. */
export type Scorer = (trial: ScoredTrial) => ScorerAnswer | Promise<ScorerAnswer>

/** Options that replace those of an agent, or a function that makes them from the agent's own. */
export type Overlay = AgentChanges | ((options: Readonly<AgentChanges>) => AgentChanges)

/** A suite, as its module `suite.ts` exports it. Only scorers may be async. */
export interface SuiteDefinition {
  /** Makes the agent of a trial. Default: a coding agent for the folder of the trial, with `tools` and without approvals. */
  readonly agent?: (given: TrialGiven) => AgentDefinition
  /** Models by name, for `--model`, `--judge` and arms such as `model=<name>`; `embedded` needs no key, and is the default without one. */
  readonly models?: { readonly [name: string]: (place: TrialPlace) => AnyModel }
  readonly scorers?: { readonly [name: string]: Scorer }
  /** Further arms by name, beside the built-in ones. */
  readonly arms?: { readonly [name: string]: Overlay }
  /** Decides calls that need an approval, in place of people, who are asked nothing else. Default: all are approved. */
  readonly decide?: (asked: AskedCall) => 'approve' | { readonly deny: string }
  /** Further tasks beside those in folders. */
  readonly tasks?: readonly Task[]
  /** Prices of models by id, for agents that set none. */
  readonly prices?: PricesByModel
}

const called = z.custom((value) => typeof value === 'function', 'give a function')
const named = (schema: z.ZodType): z.ZodType => z.record(z.string().min(1), schema)

/** Schema of the exports of `suite.ts`. */
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
 * Declares a suite in `suite.ts`: returns its argument, so that editors know its fields. The suite is checked when it is read.
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

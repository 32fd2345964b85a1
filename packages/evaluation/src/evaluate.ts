import type { EvaluateOptions, Evaluation } from './evaluateOptions.ts'
import type { AgentSource, Scorer } from './suite/defineSuite.ts'
import type { Task } from './suite/task.ts'

/**
 * Tries an agent on tasks, each several times and in several arms, and reports the differences. `cases`: tasks in code, or the folder of a suite.
 * `scorers`: by name; each judges every case, through the check that names it if the case has one.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`, and of `out` `EVALUATION_CHANGED` (it holds another evaluation), `STORE_LOCKED`,
 * `STORE_OPEN_FAILED`, `STORE_APPEND_FAILED`, `LOG_CORRUPT`, `LOG_VERSION`, `EVALUATION_UNREPORTED` (the report cannot be written)
 *
 * @example
 * ```ts no-run
 * import { evaluate } from 'escapement/testing'
 *
 * const { report } = await evaluate(
 *   support,
 *   [{ id: 'refund', prompts: ['My clock arrived broken.'] }],
 *   { offersRefund: ({ answer }) => answer.includes('refund') },
 *   { arms: ['as-defined', 'off'], trials: 5 },
 * )
 * console.log(report.arms.map(({ name, passAt1 }) => [name, passAt1.value]))
 * ```
 */
export async function evaluate(
  agent: AgentSource,
  cases: string | readonly Task[],
  scorers: Readonly<Record<string, Scorer>> = {},
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  // Whoever takes a scripted model from the same door needs no runtime.
  const { evaluateCases } = await import('./evaluateCases.ts')
  return evaluateCases(agent, cases, scorers, options)
}

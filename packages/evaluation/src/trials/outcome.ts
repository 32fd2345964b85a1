import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { Score, TrialOutcome } from '../results.ts'

/** Codes of run failures for which the agent is not to blame. */
const notItsDoing: ReadonlySet<string> = new Set([
  'MODEL_AUTH',
  'MODEL_NETWORK',
  'MODEL_RATE_LIMITED',
  'MODEL_FAILED',
  'MODEL_UNAVAILABLE',
  'MODEL_PROTOCOL',
  'MODEL_LIMIT',
  'USAGE_UNKNOWN',
  'PRICE_UNKNOWN',
  'DEPS_MISSING',
  'INVALID_DEPS',
  'INTERNAL',
])

/** Returns the error that ended a trial through no fault of its agent; `undefined` if there is none. Pure. */
export function outsideError(result: RunResult | null): ErrorInfo | undefined {
  const error = result?.error
  if (error === undefined) return undefined
  return notItsDoing.has(error.code) || /^(STORE|LOG)_/.test(error.code) ? error : undefined
}

/** Returns `passed` if every required check passed, else `failed`. Pure. */
export const outcomeOf = (scores: readonly Score[]): TrialOutcome =>
  scores.every(({ passed, required }) => passed || !required) ? 'passed' : 'failed'

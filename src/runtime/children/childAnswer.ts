import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { maxAnswerChars } from '../../actors/calls/openChild.ts'
import { cutMiddle } from '../../protocol/text/cutMiddle.ts'
import { answerIn, answerText } from '../../protocol/runs/run.ts'
import { totalTokens } from '../../protocol/messages.ts'
import type { Refusal } from '../../protocol/guarding.ts'
import type { PauseReason, RecordOf, Spent } from '../../protocol/records.ts'
import type { Limits } from '../../protocol/runs/runLimits.ts'
import type { RunResult } from '../../protocol/runs/runResult.ts'
import type { History } from '../../log/readHistory.ts'

/** Answer to a call of a sub-agent, for the model that made the call. */
export interface ChildAnswer {
  readonly text: string
  /** The complete text, if `text` was cut. */
  readonly whole?: string
  readonly isError: boolean
  /** True if the sub-agent used up its caller's allowance, which is less than its definition allows. With more it can continue. */
  readonly isOverAllowance?: boolean
}

type Ending = Pick<RunResult, 'stopReason' | 'text' | 'reason' | 'error'> & { readonly refusal?: Refusal }

export function answerOf(
  ending: Ending,
  { name, policy }: { readonly name: string; readonly policy?: Pick<AgentDefinition['policy'], 'limits'> },
): ChildAnswer {
  const { stopReason, text, reason, error } = ending
  const said = cutMiddle(text, maxAnswerChars)
  const withWhole = (say: (words: string) => string) => ({
    text: say(said),
    ...(said === text ? {} : { whole: say(text) }),
  })
  if (stopReason === 'stop' && error === undefined)
    return { ...withWhole((words) => words || '(no answer)'), isError: false }
  const why = whyUnfinished(ending).replace(/[.]?$/, '.')
  const last = (words: string): string =>
    words === '' || ending.refusal !== undefined ? '' : `\n\nIts last words were:\n${words}`
  const isOverAllowance = reason?.type === 'limit' && reason.allowed < (policy?.limits[reason.limit] ?? Infinity)
  return {
    ...withWhole((words) => `The agent "${name}" did not finish: ${why}${last(words)}`),
    isError: true,
    ...(isOverAllowance ? { isOverAllowance } : {}),
  }
}

/** Explains why a run did not finish. */
export function whyUnfinished({ stopReason, reason, error, refusal }: Omit<Ending, 'text'>): string {
  if (error !== undefined) return error.message
  if (refusal !== undefined)
    return `${refusal.at === 'input' ? 'its task' : 'its answer'} was refused by ${refusal.guard}: ${refusal.reason}`
  if (reason?.type === 'limit') return `its limit of ${reason.allowed} ${reason.limit} was reached`
  if (reason?.type === 'stall') return `it went in circles and was paused, ${reason.evidence}`
  return wordsFor[stopReason]
}

const wordsFor: { readonly [R in Ending['stopReason']]: string } = {
  stop: 'its answer was not usable',
  length: 'its reply was cut off at the longest length allowed',
  refusal: 'its model refused',
  paused: 'it was paused',
  aborted: 'it was aborted',
  error: 'it failed',
}

/**
 * Returns the answer in the log of a sub-agent that had ended before its caller learned of it; `undefined` if it had
 * not ended. `hasMore`: true if the caller knows about a reached limit and has raised it.
 */
export function finishedAnswer(
  { records }: History,
  definition: AgentDefinition,
  hasMore: boolean,
): ChildAnswer | undefined {
  const last = records.findLast((record) => record.type === 'run.start' || record.type === 'run.end')
  if (last?.type !== 'run.end' || isUnfinished(last)) return undefined
  if (hasMore && last.stopReason === 'paused' && last.reason?.type === 'limit') return undefined
  // Its process died before its task was in the log.
  if (!records.some((record) => record.type === 'message.added')) return undefined
  const said = records.findLast((record) => answerIn(record) !== undefined)
  return answerOf(endingOf(last, said === undefined ? '' : answerText(answerIn(said)!)), definition)
}

/** Returns the outcome of a run of this process, with its answer. */
export const endOf = (result: RunResult, { answer }: { readonly answer: string }): Ending => ({
  ...result,
  text: answer,
})

/** Returns the outcome of a run, with its answer. */
export const endingOf = ({ stopReason, reason, error, refusal }: RecordOf<'run.end'>, text: string): Ending => ({
  stopReason,
  text,
  ...(reason === undefined ? {} : { reason }),
  ...(error === undefined ? {} : { error }),
  ...(refusal === undefined ? {} : { refusal }),
})

/** Returns true if a run ended only because its process or its store failed. */
export const isUnfinished = ({ reason }: RecordOf<'run.end'>): boolean =>
  reason?.type === 'interrupted' || reason?.type === 'store'

/** Returns the smaller of two allowances, field by field. */
export function limitsWithin(own: Limits, allowance: Limits): Limits {
  const limits: Limits = { ...own }
  for (const limit of ['turns', 'tokens', 'costUsd', 'ms'] as const) {
    const most = allowance[limit]
    if (most !== undefined) limits[limit] = Math.min(most, own[limit] ?? Infinity)
  }
  return limits
}

/** Returns the limit that the usage has reached; `undefined` if something is left. */
export function usedUp({ usage, costUsd, turns }: Spent, limits: Limits): PauseReason | undefined {
  const used = { turns, tokens: totalTokens(usage), costUsd } as const
  for (const limit of ['turns', 'tokens', 'costUsd'] as const) {
    const allowed = limits[limit]
    if (allowed !== undefined && used[limit] >= allowed) return { type: 'limit', limit, allowed, used: used[limit] }
  }
  return undefined
}

import { RequestError, type PromptResponse, type StopReason } from '@agentclientprotocol/sdk'
import { errorInfo } from '../../protocol/errors.ts'
import type { PauseReason } from '../../protocol/records.ts'
import type { RunResult } from '../../runs/run.ts'
import { outwardError } from '../bridge/outwardError.ts'

type LimitName = Extract<PauseReason, { type: 'limit' }>['limit']

/** ACP knows no limit of money or time: what they stop is more requests. */
const limitReasons: { readonly [L in LimitName]: StopReason } = {
  turns: 'max_turn_requests',
  tokens: 'max_tokens',
  costUsd: 'max_turn_requests',
  ms: 'max_turn_requests',
}

const endReasons = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', aborted: 'cancelled' } as const

/**
 * How a run ended, as the answer of its prompt; `_meta.escapement` has turns, usage, cost and of a pause the reason.
 *
 * @throws RequestError for a run that failed, or that a failing store stopped, with its code in `data`
 */
export function promptAnswer(result: RunResult): PromptResponse {
  const { stopReason, runId, turns, usage, costUsd, reason } = result
  const error = result.error ?? (reason?.type === 'store' ? reason.error : undefined)
  if (stopReason === 'error' || (stopReason === 'paused' && reason?.type !== 'limit')) {
    const { code, message } = outwardError(error ?? errorInfo('INTERNAL', `The run ended with "${stopReason}".`))
    throw new RequestError(-32603, message, { code })
  }
  return {
    stopReason: stopReason === 'paused' ? limitReasons[(reason as { limit: LimitName }).limit] : endReasons[stopReason],
    _meta: { escapement: { runId, turns, usage, costUsd, ...(reason === undefined ? {} : { reason }) } },
  }
}

import type { AssistantMessage } from '../protocol/messages.ts'
import type { CallState, RunState } from './agentTypes.ts'

/** Returns the reason why no call of a reply may run: some may lack arguments, and the calls that were to follow are unknown. Pure. */
export function whyUnfit({ stopReason, usage }: AssistantMessage): Pick<CallState, 'unfit'> {
  if (stopReason === 'refusal') return { unfit: 'Not run: the reply that made this call ended as a refusal.' }
  if (stopReason !== 'length') return {}
  return {
    unfit:
      `Not run: your reply was cut off at ${usage.output} tokens, before it was complete. ` +
      'Make the call again in a shorter reply; where its arguments are long, in several smaller calls.',
  }
}

/** Returns the run's stop reason and its count of cut replies after a reply. Pure. */
export function endingOf(
  run: Pick<RunState, 'cutReplies'> | null,
  { stopReason, content }: AssistantMessage,
): Pick<RunState, 'lastStopReason' | 'cutReplies'> {
  const lastStopReason = stopReason === 'toolUse' ? 'stop' : stopReason
  const isCut = stopReason === 'length' && content.some(({ type }) => type === 'toolCall')
  const before = run?.cutReplies ?? 0
  if (!isCut && before === 0) return { lastStopReason }
  return { lastStopReason, cutReplies: isCut ? before + 1 : 0 }
}

/** Maximum number of consecutive replies that may be cut off in their calls. */
const mostCutReplies = 3

/** True if the model is to answer the results of its calls. False for a reply that ended as a refusal, or after too many cut-off replies. */
export const answersResults = (run: Pick<RunState, 'lastStopReason' | 'cutReplies'> | null): boolean =>
  run === null || (run.lastStopReason !== 'refusal' && (run.cutReplies ?? 0) < mostCutReplies)
